// Mutations of what runs user code.

import { type Mutation, of } from '../mutation.ts';

const RUNNER = 'src/runner';
const UNIT = 'test/unit/runner';

export const RUNNER_MUTATIONS: readonly Mutation[] = [
  ...of(`${RUNNER}/resume-token.ts`, [`${UNIT}/resume-token.test.ts`], {
    'resume: the token of another wait': ['`${run}:${waits}`', '`${run}`'],
    'resume: a token of the right length': [
      'a.length === b.length && crypto().timingSafeEqual(a, b)',
      'a.length === b.length',
    ],
  }),
  ...of(`${RUNNER}/pool/restart-backoff.ts`, [`${UNIT}/pool/restart-backoff.test.ts`], {
    'restarts: no pause': ['nowMs - entry.atMs < entry.pauseMs', 'false'],
    'restarts: pauses grow for ever': [
      'Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** doublings)',
      'FIRST_PAUSE_MS * 2 ** doublings',
    ],
    'restarts: the row is never forgotten': ['entry && nowMs - entry.atMs < FORGOTTEN_MS ?', 'entry ?'],
  }),
  ...of(`${RUNNER}/pool/memory.ts`, [`${UNIT}/pool/memory.test.ts`], {
    'memory: nothing for Node itself': ['return memoryMb + NODE_MB;', 'return memoryMb;'],
    'memory: a MiB is 1,000 KiB': ['const KIB_PER_MB = 1024;', 'const KIB_PER_MB = 1000;'],
  }),
  ...of(`${RUNNER}/process/message-budget.ts`, [`${UNIT}/process/message-budget.test.ts`], {
    'messages: loaded twice': ['if (this.#isLoaded) throw', 'if (false) throw'],
    'messages: strays without end': ['if (--this.#strayExceptions < 0)', 'if (false)'],
    'messages: strangers without end': ['!isKnown && --this.#unknown < 0', 'false'],
    'messages: those of a run count as of none': ['!isKnown && --this.#unknown < 0', '--this.#unknown < 0'],
  }),
  ...of(`${RUNNER}/process/json-check.ts`, [`${UNIT}/process/json-check.test.ts`], {
    'json: nothing is too deep': ['if (isDeeperThan(text, levels)) throw', 'if (false) throw'],
    'json: what is no JSON passes': ['if (jsonDepth(Buffer.from(text), bounds) === null) throw', 'if (false) throw'],
  }),
  ...of(`${RUNNER}/process/message-throttle.ts`, [`${UNIT}/process/message-throttle.test.ts`], {
    'intake: large messages never wait': ['return Math.max(0, atMs - this.#nowMs());', 'return 0;'],
    'intake: an owner alone waits': ['if (this.hasOtherOwners(ownerId)) return', 'return'],
    'intake: closed, it still waits': ['this.#isClosed = true;', ''],
  }),
  ...of(`${RUNNER}/process/crash-outcome.ts`, [`${UNIT}/process/crash-outcome.test.ts`], {
    'crash: an unattributed run is blamed': ['if (context.inFlight > 1) return UNATTRIBUTED;', ''],
    'crash: blamed for memory of the run before': [
      "cause.code === 'OutOfMemory' && context.sinceOtherMs < LEFT_BEHIND_MS",
      'false',
    ],
    'crash: a cancelled run failed': [
      "if (run.halted === 'cancelled') return CANCELLED;\n  if (run.isHeld) return RETURNED;\n  if (run.halted === 'timeout'",
      "if (run.isHeld) return RETURNED;\n  if (run.halted === 'timeout'",
    ],
    'crash: a full memory is an exit': ["if (kind === 'memory' || saysSo) {", "if (kind === 'memory') {"],
    'silence: an unattributed run is blamed': [
      'run.halted === null || all.filter(isBegun).length > 1',
      'run.halted === null',
    ],
  }),
  ...of(`${RUNNER}/process/run-process.ts`, [`${UNIT}/process/held-runs.test.ts`], {
    'held: those that never began share the blame': ['all.filter(isBegun).length', 'all.length'],
    'held: one that is given back ends its process': [
      'if (!run.isHeld) this.#draining = true;',
      'this.#draining = true;',
    ],
    'held: its time counts from its arrival': ['    this.options.onBegun(run);\n', ''],
    'held: one ends the loop that it waits for': [' && !mayWait', ''],
  }),
  ...of(`${RUNNER}/child/worker.ts`, [`${UNIT}/process/held-runs.test.ts`], {
    'held: they follow what nothing should follow': ['if (this.#isTainted) this.#held.giveBack();', ''],
    'held: they follow code that was halted': [
      '        // The code of the halted run may still be active.\n        this.#held.giveBack();\n',
      '',
    ],
    'held: they begin with the others': ['if (run.message.atOnce === undefined) this', 'this'],
  }),
  ...of(`${RUNNER}/child/worker.ts`, [`${UNIT}/held.test.ts`], {
    'held: in contexts of earlier runs': [
      'void this.#outside(executeWith, run, this.#instances)',
      'void executeWith(run, this.#instances)',
    ],
  }),
  ...of('src/engine/runs/ready-runs.ts', [`${UNIT}/held.test.ts`], {
    'held: beside others elsewhere': ['runsBeside(request) === pace.given', 'runsBeside(request) !== null'],
    'held: one that is alone': ['request.alone || ', ''],
    'held: large events': [' || request.event.byteLength > MAX_HELD_EVENT_BYTES', ''],
    'held: of slow runs': ['Math.min(MAX_HELD, aheadOf(pace, atOnce))', 'MAX_HELD'],
  }),
  ...of(`${RUNNER}/process/answer-time.ts`, [`${UNIT}/process/answer-time.test.ts`], {
    'answer: time without the CPU counts': ['now?.isWaiting ?', 'now === undefined ?'],
    'answer: it may take for ever': [' || this.#passedMs >= this.#mostMs', ''],
    'answer: a late look counts for several': [
      'Math.min(this.intervalMs, now.usedMs - this.#usedMs)',
      'now.usedMs - this.#usedMs',
    ],
    'answer: sleep does not count': [': this.intervalMs;\n    this.#usedMs', ': 0;\n    this.#usedMs'],
  }),
  ...of(`${RUNNER}/pool/cpu.ts`, [`${UNIT}/pool/cpu.test.ts`], {
    'cpu: a stopped process does not wait': ["['R', 'D', 'T']", "['R', 'D']"],
    'cpu: what is over is not exiting': ['& EXITING) !== 0', '& EXITING) > EXITING'],
  }),
  ...of(`${RUNNER}/process/stderr-tail.ts`, [`${UNIT}/process/stderr-tail.test.ts`], {
    'stderr: all of it is kept': [
      'this.#kept.subarray(Math.max(0, this.#kept.length + last.length - KEPT_BYTES))',
      'this.#kept',
    ],
    'stderr: it never rests': ['this.#stream.pause();', ''],
  }),
  ...of(`${RUNNER}/child/late-failure.ts`, [`${UNIT}/process/endings.test.ts`, `${UNIT}/pool/pool.test.ts`], {
    'late failure: its step has succeeded': ['STEP_STATE.failed, step[2]', 'step[1], step[2]'],
    'late failure: runs follow one that broke its process': ['  program.failed(failed);\n', ''],
  }),
  ...of(`${RUNNER}/child/frames.ts`, [`${UNIT}/process/endings.test.ts`], {
    'late failure: the end stands': ['this.#messages[i] = other;', ''],
  }),
  ...of(`${RUNNER}/child/active-run.ts`, [`${UNIT}/process/endings.test.ts`], {
    'late failure: a run that failed fails again': [
      "if (end.kind === 'succeeded') this.#succeeded = posted;",
      'this.#succeeded = posted;',
    ],
  }),
  ...of(`${RUNNER}/child/confine/environment.ts`, [`${UNIT}/isolation/environment.test.ts`], {
    'environment: the system learns of all variables': ['if (isPassedOn(key) && ', 'if ('],
    'environment: a time zone may be any file': [" && !(key === 'TZ' && isPath(text))", ''],
    'environment: a zone with a colon may be any file': ["zone[0] === ':' ? zone[1] : zone[0]", 'zone[0]'],
    'environment: a zone may leave its folder': ["if (zone[i] === '.' && zone[i - 1] === '.') return true;", ';'],
    'environment: what is deleted stays': ['if (isPassedOn(name)) delete real', 'if (false) delete real'],
  }),
];
