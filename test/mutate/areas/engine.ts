// Mutations of what acts.

import { type Mutation, of } from '../mutation.ts';

const ENGINE = 'src/engine';
const UNIT = 'test/unit/engine';

export const ENGINE_MUTATIONS: readonly Mutation[] = [
  ...of('src/engine/runs/run-retries.ts', ['test/flows/runs/run-again.test.ts'], {
    'retries: a second one needs no flag': ['const isFirst = !isAgain && ', 'const isFirst = isAgain && '],
  }),
  ...of('src/engine/runs/replay-choices.ts', [`${UNIT}/replays/replays.test.ts`], {
    'replays from a step: a run that goes on by itself is replayed': ["if (failed.state !== 'failed')", 'if (false)'],
    'replays from a step: a source goes on': [
      'causeRun === null || !emitterId.startsWith(PREFIX.workflow)) return null;',
      'causeRun === null) return null;',
    ],
    'replays from a step: the named deployment is the active one': [
      'deploymentId ?? (await',
      '(deploymentId && undefined) ?? (await',
    ],
    'replays from a step: what they keep has no bytes': [
      'choice.goesOn?.checkpoint.length',
      '0 * (choice.goesOn?.checkpoint.length ?? 0)',
    ],
  }),
  ...of('src/domain/run/failed-step.ts', [`${UNIT}/replays/replays.test.ts`], {
    'failed step: other steps before it do': ['step.namespace === steps[i]?.namespace', 'true'],
    'failed step: none need be left': ['done.length < steps.length', 'done.length <= steps.length'],
    'failed step: the attempt is the first one': ['attempt: attempt + 1', 'attempt: 1'],
    'failed step: it is kept': ["step.state !== 'failed' && ", ''],
  }),
  ...of('src/store/log/replays/replay-errors.ts', ['test/contract/sqlite.test.ts'], {
    'replays from a step: nothing is kept': ['continuation: goesOn ?? PINNED', 'continuation: PINNED'],
  }),
  ...of('src/engine/runs/replays.ts', ['test/http/replays.test.ts'], {
    'replays: a deployment of another workflow is taken': ['if (other === undefined) return;', 'return;'],
    'replays: an unknown group is replayed': ['if (!found) throw', 'if (!found) return null;\n      if (!found) throw'],
  }),
  ...of(`${ENGINE}/resources/owners.ts`, ['test/http/workflows/global-error-workflow.test.ts'], {
    'owners: the global error workflow has the queue of others': [
      'queueLimit: LIMITS.maxQueueLimit',
      'queueLimit: LIMITS.queueLimit',
    ],
  }),
  ...of('src/engine/capacity/token-bucket.ts', ['test/unit/engine/quotas.test.ts'], {
    'token bucket: no refill': ['(passedMs * this.perSecond) / SECOND_MS', '0'],
    'token bucket: a request is free': ['    this.#tokens--;\n', ''],
    'token bucket: more than its burst': [
      'Math.min(this.#burst, this.#tokens +',
      'Math.max(this.#tokens, this.#tokens +',
    ],
  }),
  ...of(`${ENGINE}/schedule/scheduler.ts`, [`${UNIT}/schedule.test.ts`, `${UNIT}/scheduler.test.ts`], {
    'retention: days are hours': ['retentionDays * DAY_MS', 'retentionDays * HOUR_MS'],
    'retention: begins again with each step': ['this.#pruneFrom = next ?? 0;', 'this.#pruneFrom = 0;'],
    'schedule: the poll alone brings what is next': ['next - clock.nowMs();', 'Number.POSITIVE_INFINITY;'],
    'schedule: one step of ends of waits': [
      ' || left.isMore || isMore || areMoreNotices) return 0;',
      ' || left.isMore || areMoreNotices) return 0;',
    ],
  }),
  ...of(`${ENGINE}/runs/runs.ts`, [`${UNIT}/runs.test.ts`], {
    'runs: no limit of 60 s for scheduled ones': [
      "run.emission.sourceType === 'TIMER' ? LIMITS.scheduleTimeoutMs : LIMITS.timeoutMs",
      'LIMITS.timeoutMs',
    ],
    "runs: a workflow's own limit is not taken": ['return own ?? (', 'return ('],
    'runs: an answer during the stop is given away': ['answer: given ?? outcome.answer', 'answer: outcome.answer'],
    'runs: a slot is kept': ['slots.dropRun(run.runnable.id);', ''],
    'runs: callers hear before it is durable': [
      'const finished = end && (await retryStorage(() => finish',
      'if (end) this.#answerCallers(end, whole, { held: true, claims: { runs: [], deliveries: [], runsWaiting: false, deliveriesWaiting: false }, errorEntry: null });\n    const finished = end && (await retryStorage(() => finish',
    ],
    'runs: what was claimed is not started': ['dispatch.take(finished.claims);', ''],
    'runs: the stop waits for nothing': ['if (this.#underWay.size === 0) break;', 'break;'],
  }),
  ...of(`${ENGINE}/capacity/slots.ts`, [`${UNIT}/deliveries/slots.test.ts`], {
    'slots: no cap of runs for the node': ['ofOwner >= MAX_RUNS - this.total', 'false'],
    'slots: one run more than its concurrency': ['(counter?.taken ?? 0) >= limit', '(counter?.taken ?? 0) > limit'],
    'slots: one without the role runs': ['if (!this.#isOpen || !this.#roles.runs)', 'if (!this.#isOpen)'],
    'slots: some are taken before the start is over': ['#isOpen = false;\n  /**', '#isOpen = true;\n  /**'],
    'slots: some are taken after the stop': ['close(): void {\n    this.#isOpen = false;', 'close(): void {'],
    'slots: those of an owner are never given back': [
      'if (ofOwner > 1) this.#byOwner.set(counter.ownerId, ofOwner - 1);',
      'if (ofOwner > 1) this.#byOwner.set(counter.ownerId, ofOwner);',
    ],
  }),
  ...of(
    `${ENGINE}/deliveries/deliveries.ts`,
    [`${UNIT}/deliveries/deliveries.test.ts`, `${UNIT}/deliveries/deliveries-loop.test.ts`],
    {
      'deliveries: a failure is recorded late': ["next && end.state === 'delivered'", 'next'],
      'deliveries: each success has a transaction': [
        "if (next && end.state === 'delivered') await this.#ends.join();",
        '',
      ],
      'deliveries: what is gathered waits though nothing is queued': ['else this.#ends.release();', ''],
      'deliveries: what our stop cut off counts': ["return aborted && made.outcome !== 'answered';", 'return false;'],
      'deliveries: an answer during the stop is dropped': [
        "return aborted && made.outcome !== 'answered';",
        'return aborted;',
      ],
      'deliveries: a retry is due a moment early': [
        'clock.latestMs() + decision.inMs',
        'clock.nowMs() + decision.inMs',
      ],
      'deliveries: what is queued for a paused one is sent': [
        'isStop ? limiter.stop(listenerId) : limiter.stale(listenerId)',
        'limiter.stale(listenerId)',
      ],
      'deliveries: a paused one stays stopped': ['if (isStop) limiter.resume(listenerId);', ''],
      'deliveries: a webhook that is gone is not disabled': [
        "disableWebhook: decision.state === 'exhausted' && decision.code === 'WebhookGone',",
        'disableWebhook: false,',
      ],
    },
  ),
  ...of(
    `${ENGINE}/deliveries/delivery-limiter.ts`,
    [
      `${UNIT}/deliveries/delivery-limiter.test.ts`,
      `${UNIT}/deliveries/shares.test.ts`,
      `${UNIT}/deliveries/rate-limiter.test.ts`,
    ],
    {
      'limiter: one slot more': ['state.slots >= slotLimit(state)', 'state.slots > slotLimit(state)'],
      'limiter: a stopped webhook gets slots': ['if (isStopped(state) || state.slots', 'if (state.slots'],
      'limiter: what is claimed for a stopped webhook is sent': [
        'if (isStopped(state) || isOverRate',
        'if (isOverRate',
      ],
      'limiter: a freed slot is lost': [
        'const next = state.sending < sendingLimit(state) ? state.queued.shift() : undefined;',
        'const next = undefined as { readonly delivery: ClaimedDelivery } | undefined;',
      ],
    },
  ),
  ...of(`${ENGINE}/storage-retry.ts`, [`${UNIT}/storage/storage-retry.test.ts`], {
    'storage: a bug is tried again for ever': ['if (!(error instanceof StoreUnavailable)) throw error;', ''],
    'storage: an outage is given up at once': ['if (signal.aborted) return undefined;', 'return undefined;'],
  }),
  ...of(`${ENGINE}/storage-outage.ts`, [`${UNIT}/storage/storage-outage.test.ts`], {
    'outage: over at the first success': ['if (isBack && this.#isQuiet(outage)) {', 'if (isBack) {'],
    'outage: over although nothing can be written': ['(await this.#ports.isBack().catch(() => false))', 'true'],
    'outage: told at each look': ['outage.remindedMs = this.#nowMs();', ''],
  }),
  ...of(`${ENGINE}/loop.ts`, [`${UNIT}/loop.test.ts`], {
    'loop: a wake-up during a tick is lost': [
      'if (this.#isTicking) this.#wokenInMs = Math.min(this.#wokenInMs, inMs);',
      'if (this.#isTicking) return;',
    ],
    'loop: a failed tick is the last one': ['let waitMs = AFTER_FAILURE_MS;', 'let waitMs = Number.POSITIVE_INFINITY;'],
    'loop: the stop does not wait': ['await this.#running;', ''],
    'loop: wake-ups put it off': ['else if (performance.now() + inMs < this.#dueAt)', 'else'],
  }),
  ...of(`${ENGINE}/accept/waiters.ts`, [`${UNIT}/waiters.test.ts`, `${UNIT}/answers.test.ts`], {
    'waiters: the last answer counts': ['waiting.answered.clear();', ''],
    'waiters: a caller that went away is kept': ["      leave();\n      resolve({ kind: 'none' });", ''],
    'waiters: a suspended run keeps its caller': ["wait.kind !== 'suspend' && wait.dueAtMs", 'wait.dueAtMs'],
  }),
  ...of(`${ENGINE}/accept/emit.ts`, [`${UNIT}/emit.test.ts`], {
    'emit: a key for two requests': ['if (repeated && !repeated.isSameRequest) {', 'if (false) {'],
    'emit: what was claimed is not started': [
      'answers.watch(firstRun);\n    dispatch.take(claims);',
      'answers.watch(firstRun);',
    ],
    'emit: a repeat of a silent run got no answer': ["if (record?.state === 'succeeded') return 'silent';", ''],
    'emit: a repeat waits for a run that is over': [
      'const isOpen = record && !isOver(record.state);',
      'const isOpen = record;',
    ],
  }),
  ...of(`${ENGINE}/runs/ready-runs.ts`, [`${UNIT}/ready-runs.test.ts`], {
    'ready-runs: one more than its slots': ['pace.given < atOnce', 'pace.given <= atOnce'],
    'ready-runs: nothing follows': ['      this.#beginNext(id, pace);\n', ''],
    'ready-runs: the latest goes first': ['const [next] = pace.waiting;', 'const next = pace.waiting.at(-1);'],
    'ready-runs: ahead of one at a time': ['concurrency < 2 || ', ''],
    'ready-runs: ahead of what is unknown': ['seen < MIN_SEEN', 'false'],
    'ready-runs: ahead of slow runs': [', Math.floor((AHEAD_MS * concurrency) / meanMs)', ''],
    'ready-runs: what waits in its process is of the pace': ['      before = performance.now();\n', ''],
    'ready-runs: some are held beside other workflows': ['performance.now() - this.#changedAtMs < UNHELD_MS', 'false'],
    'ready-runs: none is held after a start': ['this.#latest !== undefined', 'true'],
    'ready-runs: what waits is not cancelled': ['waiting.splice(index, 1)[0]?.resolve(CANCELLED);', ''],
  }),
  ...of(`${ENGINE}/capacity/quotas.ts`, [`${UNIT}/quotas.test.ts`], {
    'quotas: one byte more': ['this.#bytesOf(ownerId) >= storedBytes', 'this.#bytesOf(ownerId) > storedBytes'],
    'quotas: what came since is not counted': [' + this.#since.bytesOf(ownerId)', ''],
    'quotas: nothing is measured behind a clock': [' || isAhead(this.#measuredAtMs, nowMs);', ';'],
    'quotas: a measurement ahead counts for what came since': ['if (!isAhead(measuredAtMs, nowMs)) this', 'this'],
    'quotas: what came since counts for ever': ['this.#since.turnBack(nowMs);', ''],
  }),
  ...of('src/engine/resources/triggers.ts', ['test/http/workflows/trigger-updates.test.ts'], {
    'schedules: one with other times keeps its next tick': ['isSameSchedule(existing, schedule) ?', 'true ?'],
    'schedules: one with other times takes the id of another': [
      "(_, input) => input.type !== 'schedule'",
      '() => true',
    ],
  }),
  ...of('src/engine/resources/workflows.ts', ['test/http/interface/if-match.test.ts'], {
    'workflows: a change replaces another one': ['ifUpdatedAtMs: before.workflow.updatedAtMs,', ''],
    'workflows: a change behind another one is refused': [
      'if (now && now.updatedAtMs',
      'if (false && now?.updatedAtMs',
    ],
  }),
  ...of('src/engine/resources/owners.ts', ['test/http/interface/if-match.test.ts'], {
    'owners: a change replaces another one': [
      'store.updateOwner(owner, before.updatedAtMs)',
      'store.updateOwner(owner)',
    ],
  }),
  ...of('src/engine/resources/bundle.ts', ['test/flows/components/component-paths.test.ts'], {
    'steps: one of a file that is sent back is bundled alone': [
      'ready ?? deployedFile(runnable.previous, code)',
      'ready',
    ],
  }),
  ...of(
    `${ENGINE}/deliveries/operations.ts`,
    [`${UNIT}/operations.test.ts`, 'test/flows/webhooks/resend-many.test.ts'],
    {
      'operations: the log ends at the clock': ['lastMs > nowMs ? lastMs + 1 : nowMs', 'nowMs'],
      'operations: the newest is left out': ['lastMs + 1', 'lastMs'],
    },
  ),
];
