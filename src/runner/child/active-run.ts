// One run inside the child: its input, what it has produced so far, and its end, which happens once.

import { keptBytes, resumeBytes } from '../../domain/run/checkpoint.ts';
import type { Answer } from './api/answer.ts';
import { OutgoingItems } from './api/outgoing-items.ts';
import { PendingRequests } from './api/pending-requests.ts';
import { resultsOf } from './api/results.ts';
import { addressesOf, type WaitAddresses } from './api/resume-address.ts';
import { DbBudget } from './api/service-db.ts';
import { withoutBulk } from './bulk.ts';
import type { Capture } from './capture.ts';
import { platformError } from './errors.ts';
import type { LateCalls } from './late-calls.ts';
import { failInstead } from './late-failure.ts';
import type { LogReports } from './log-reports.ts';
import {
  type ChildFault,
  type ChildLimits,
  type EndMessage,
  type FromChild,
  type LateCall,
  type LogMessage,
  type RunMessage,
  type RunProgress,
  STEP_STATE,
  type StepMessage,
  type StepTuple,
} from './protocol.ts';
import { RunLog } from './run-log.ts';
import { cutChars, textOf } from './text.ts';

export interface LoadedStep {
  readonly id: string;
  readonly namespace: string;
  /** The module's default export. */
  readonly component: unknown;
}

/** What all runs of the process share. */
export interface Program {
  /** Empty until the steps are loaded. */
  steps: readonly LoadedStep[];
  readonly limits: ChildLimits;
  readonly capture: Capture;
  /** Returns whether the state that all runs share is as it was after loading (intact.ts). */
  isIntact: () => boolean;
  readonly post: (message: FromChild, blobs?: Uint8Array | readonly Uint8Array[] | null, weight?: number) => void;
  /** Posts another message in the place of one; false: that one is written. */
  readonly replace: (message: FromChild, other: FromChild) => boolean;
  /** Writes out at once what was posted. */
  readonly flush: () => void;
  readonly logReports: LogReports;
  readonly lateCalls: LateCalls;
  readonly ended: (run: ActiveRun) => void;
  /** Called with the end of a failed run when it is posted. */
  readonly failed: (message: EndMessage) => void;
}

type End = Pick<EndMessage, 'kind' | 'exitReason' | 'fault' | 'wait'>;

export class ActiveRun {
  readonly program: Program;
  /** The steps of a source's own instance; null in a workflow. */
  ownSteps: readonly LoadedStep[] | null = null;
  readonly message: RunMessage;
  readonly #event: Uint8Array;
  readonly log: RunLog;
  readonly outgoing: OutgoingItems;
  /** `steps` as the code sees it. */
  readonly results: Record<string, unknown>;
  /** Since the last message: of a source, or of the step that runs. */
  readonly dbWrites = new Map<string, string | null>();
  #dbBudget: DbBudget | null = null;
  #exports = 0;
  /** The index of the first step to execute; the steps before it are done. */
  readonly firstIndex: number;
  /** Called when the run has ended. */
  readonly cleaning: (() => void)[] = [];
  /** After the run's end, nothing that its code still does has an effect. */
  ended = false;
  exitReason: string | undefined;
  currentStep: { index: number; tuple(state: number, returned: string | null): StepTuple } | null = null;
  /** The step that has ended and was not reported yet. */
  #step: StepTuple | null = null;
  #answer: Answer | null = null;
  #summary: string | undefined;
  #addresses: WaitAddresses | undefined;
  #resultBytes: number;
  /** Approximate size in bytes of what was produced since the last message. */
  #weight = 0;
  #requests: PendingRequests | null = null;
  #succeeded: EndMessage | null = null;

  constructor(program: Program, message: RunMessage, event: Uint8Array) {
    this.program = program;
    this.message = message;
    this.#event = event;
    this.firstIndex = message.earlier?.steps.length ?? 0;
    this.#resultBytes = bytesBefore(message.earlier);
    this.log = new RunLog(program.limits.logBytes - (message.earlier?.logBytes ?? 0));
    this.outgoing = new OutgoingItems(program.limits);
    this.results = resultsOf(message, () => this.eventText());
  }

  get steps(): readonly LoadedStep[] {
    return this.ownSteps ?? this.program.steps;
  }

  /** Returns the event's exact text. */
  eventText(): string {
    const { buffer, byteOffset, byteLength } = this.#event;
    return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  }

  /** Returns the requests of the code to the server. */
  get requests(): PendingRequests {
    const { program, message } = this;
    this.#requests ??= new PendingRequests({
      run: message.run,
      limits: program.limits,
      post: (request, value) => program.post(request, value),
      isOver: () => this.ended,
    });
    return this.#requests;
  }

  get dbBudget(): DbBudget {
    this.#dbBudget ??= new DbBudget(this.program.limits);
    return this.#dbBudget;
  }

  /** Resolves when all requests have their reply; null when there were none. */
  requestsSettled(): Promise<void> | null {
    return this.#requests?.allSettled() ?? null;
  }

  /** Returns the request that ended the wait before this segment, parsed again for each caller. */
  callbackRequest(): { readonly body?: unknown } | undefined {
    const callback = this.message.earlier?.callback;
    return typeof callback === 'string' ? JSON.parse(callback) : undefined;
  }

  /** Returns the addresses that end the next wait; the same for every call in one run. */
  addresses(): WaitAddresses {
    this.#addresses ??= addressesOf(this.message);
    return this.#addresses;
  }

  /**
   * Counts a text towards the bound on what a run may return and export, over all its segments. Throws beyond the
   * bound.
   */
  countResult(text: string): string {
    const bytes = Buffer.byteLength(text);
    this.#resultBytes += bytes;
    this.#weight += bytes;
    return this.#checked(text, this.#resultBytes);
  }

  countExport(): void {
    const { exportsPerRun } = this.program.limits;
    if (++this.#exports <= exportsPerRun) return;
    throw platformError('PayloadTooLarge', `A run may export at most ${exportsPerRun} times`);
  }

  /** Checks that a text would fit within the bound, without counting it. */
  checkResult(text: string): string {
    return this.#checked(text, this.#resultBytes + Buffer.byteLength(text));
  }

  #checked(text: string, bytes: number): string {
    const { resultBytes } = this.program.limits;
    if (bytes <= resultBytes) return text;
    throw platformError(
      'PayloadTooLarge',
      `Return values and exports of a run have at most ${resultBytes} bytes together`,
    );
  }

  setSummary(value: unknown): void {
    this.#summary = cutChars(this.program.capture.printed(textOf(value)), this.program.limits.descriptionChars);
  }

  answer(answer: Answer, immediate: boolean): void {
    if (this.ended) return;
    if (this.#answer !== null) {
      this.log.add('warn', '', 'respond was called again; the first answer stands');
      return;
    }
    this.#answer = answer;
    if (!immediate) return;
    const { head, body } = answer;
    this.program.post({ t: 'answer', run: this.message.run, answer: head, bytes: body.byteLength }, body);
    this.program.flush(); // the code may block from here on
    this.#answer = SENT;
  }

  /** Returns whether the run has ended; then the call is counted, since it has no effect. */
  isTooLate(call: LateCall): boolean {
    if (this.ended) this.program.lateCalls.add(this.message.run, call);
    return this.ended;
  }

  /** Adds a line to the log. */
  print(level: string, namespace: string, text: string): void {
    this.log.add(level, namespace, text);
    if (this.unreportedBytes > 0) this.program.logReports.printed(this);
  }

  get unreportedBytes(): number {
    return this.log.bytesWaiting;
  }

  /** Reports the lines since the last message: they stand should the process die. */
  reportLog(): void {
    const { run } = this.message;
    const weight = this.unreportedBytes;
    const logs = this.log.take();
    const dropped = this.log.bytesDropped || undefined;
    if (logs !== undefined) this.#post({ t: 'log', run, logs, dropped }, null, weight);
  }

  stepEnded(tuple: StepTuple): void {
    this.#step = tuple;
  }

  /**
   * Reports the step that has ended. Should the process die in the next step, that step is blamed, and what was
   * reported takes effect.
   */
  reportStep(): void {
    if (this.#step === null) return;
    const { run } = this.message;
    this.#post({ t: 'step', run, step: this.#step, ...this.#progress(), dbWrites: this.#takeDbWrites() }, null);
    this.#step = null;
    this.program.flush();
  }

  /**
   * Ends the run as failed. `step`: the step whose code threw; work that an earlier step left behind can fail the run
   * too.
   */
  fail(value: unknown, step: number = this.currentStep?.index ?? 0): void {
    if (this.ended) return;
    this.end({ kind: 'failed', fault: this.program.capture.fault({ value, step }) });
  }

  /** Fails a run that has succeeded and whose end is not written yet; false: its end stands. */
  failLate(value: unknown, step: number): boolean {
    const succeeded = this.#succeeded;
    this.#succeeded = null;
    return succeeded !== null && failInstead(succeeded, this.program, { value, step });
  }

  halt(): void {
    this.end({ kind: 'halted' });
  }

  /** Reports that the run's code could not be loaded. */
  cannotBegin(fault: ChildFault): void {
    if (this.ended) return;
    this.ended = true;
    this.program.post({ t: 'broken', run: this.message.run, fault });
    this.program.ended(this);
  }

  end(end: End): void {
    if (this.ended) return;
    this.ended = true;
    // Work left behind can fail a step that has returned: such a step is reported once, as failed.
    const cut = end.kind === 'failed' || end.kind === 'halted' ? this.currentStep : null;
    const last = cut === null ? this.#step : cut.tuple(STEP_STATE.failed, null);
    const answer = this.#answer === SENT ? null : this.#answer;
    const message: EndMessage = {
      t: 'end',
      run: this.message.run,
      ...end,
      step: last ?? undefined,
      ...this.#progress(),
      answer: answer?.head,
      bytes: answer?.body.byteLength,
      isTainted: end.fault?.code === 'WorkerExit' || undefined,
      // Otherwise they are of the step that failed.
      dbWrites: end.kind === 'succeeded' || end.kind === 'waiting' ? this.#takeDbWrites() : undefined,
    };
    const posted = this.#post(message, answer?.body ?? null);
    if (end.kind === 'succeeded') this.#succeeded = posted;
    if (end.kind === 'failed') this.program.failed(posted);
    this.program.ended(this);
    for (const clean of this.cleaning) clean();
  }

  /** Returns the message that is sent. */
  #post<M extends EndMessage | StepMessage | LogMessage>(
    whole: M,
    body: Uint8Array | null,
    weight = this.#weighed(),
  ): M {
    let light: ReturnType<typeof withoutBulk<M>> = { message: whole, texts: [] };
    try {
      light = withoutBulk(whole, weight);
    } catch {
      // The code has broken the language. Without its texts taken out, the message still says how the run ended.
    }
    this.program.post(light.message, body === null ? light.texts : [body, ...light.texts], weight);
    return light.message;
  }

  #progress(): RunProgress {
    const logs = this.log.take();
    return {
      logs,
      dropped: this.log.bytesDropped || undefined,
      outgoing: this.outgoing.take(),
      summary: this.#summary,
    };
  }

  #takeDbWrites(): RunProgress['dbWrites'] {
    const { dbWrites } = this;
    if (dbWrites.size === 0) return undefined;
    this.#weight += bytesOf(dbWrites);
    const taken = Object.fromEntries(dbWrites);
    dbWrites.clear();
    return taken;
  }

  #weighed(): number {
    const weight = this.#weight + this.outgoing.bytes + this.log.bytesKept;
    this.#weight = 0;
    return weight;
  }
}

function bytesOf(writes: ReadonlyMap<string, string | null>): number {
  let bytes = 0;
  for (const [name, text] of writes) bytes += name.length + (text?.length ?? 0);
  return bytes;
}

function bytesBefore(earlier: RunMessage['earlier']): number {
  if (!earlier) return 0;
  // The request that caused a rerun counts towards the results of the step that is executed again.
  const request = earlier.reruns === null ? null : earlier.callback;
  return keptBytes(earlier.steps) + resumeBytes(request);
}

const SENT: Answer = { head: { status: 0, headers: {} }, body: new Uint8Array() };
