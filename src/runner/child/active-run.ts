// One run inside the child: what it has been given, what it has made so far, and its one end.

import { keptBytes, resumeBytes } from '../../domain/run/checkpoint.ts';
import type { Answer } from './api/answer.ts';
import { Outbox } from './api/outbox.ts';
import { PendingRequests } from './api/pending-requests.ts';
import { resultsOf } from './api/results.ts';
import { addressesOf, type WaitAddresses } from './api/resume-address.ts';
import { withoutBulk } from './bulk.ts';
import type { Capture } from './capture.ts';
import { platformError } from './errors.ts';
import {
  type ChildFault,
  type ChildLimits,
  type EndMessage,
  type FromChild,
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
  /** Empty until they are loaded. */
  steps: readonly LoadedStep[];
  readonly limits: ChildLimits;
  readonly capture: Capture;
  /** Whether what all its runs share is as it was when it was loaded (intact.ts). */
  isIntact: () => boolean;
  readonly post: (message: FromChild, blobs?: Uint8Array | readonly Uint8Array[] | null, weight?: number) => void;
  /** Writes out at once what has been posted. */
  readonly flush: () => void;
  readonly ended: (run: ActiveRun) => void;
}

type End = Pick<EndMessage, 'kind' | 'exitReason' | 'fault' | 'wait'>;

export class ActiveRun {
  readonly program: Program;
  /** Of a source: its own. */
  ownSteps: readonly LoadedStep[] | null = null;
  readonly message: RunMessage;
  readonly #event: Uint8Array;
  readonly log: RunLog;
  readonly outbox: Outbox;
  /** `steps` as the code sees it. */
  readonly results: Record<string, unknown>;
  readonly dbWrites = new Map<string, string | null>();
  #exports = 0;
  /** The index of the first step to be executed: those before it are done. */
  readonly firstIndex: number;
  /** What is to be done when it has ended. */
  readonly cleaning: (() => void)[] = [];
  /** After its end nothing that its code still does has an effect. */
  ended = false;
  exitReason: string | undefined;
  currentStep: { index: number; tuple(state: number, returned: string | null): StepTuple } | null = null;
  /** The step that is done and not told of. */
  #step: StepTuple | null = null;
  #answer: Answer | null = null;
  #summary: string | undefined;
  #addresses: WaitAddresses | undefined;
  #resultBytes: number;
  /** About how large what was made since the last message is. */
  #weight = 0;
  #requests: PendingRequests | null = null;

  constructor(program: Program, message: RunMessage, event: Uint8Array) {
    this.program = program;
    this.message = message;
    this.#event = event;
    this.firstIndex = message.goingOn?.steps.length ?? 0;
    this.#resultBytes = bytesBefore(message.goingOn);
    this.log = new RunLog(program.limits.logBytes - (message.goingOn?.logBytes ?? 0));
    this.outbox = new Outbox(program.limits);
    this.results = resultsOf(message, () => this.eventText());
  }

  get steps(): readonly LoadedStep[] {
    return this.ownSteps ?? this.program.steps;
  }

  /** The event's exact text. */
  eventText(): string {
    const { buffer, byteOffset, byteLength } = this.#event;
    return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  }

  /** What its code asks the server. */
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

  /** Null when its code waits for no answer. */
  requestsSettled(): Promise<void> | null {
    return this.#requests?.allSettled() ?? null;
  }

  /** The request that ended the wait before this segment; a copy of its own for whoever asks. */
  callbackRequest(): { readonly body?: unknown } | undefined {
    const callback = this.message.goingOn?.callback;
    return typeof callback === 'string' ? JSON.parse(callback) : undefined;
  }

  /** Where the wait that a step asks for can be ended; the same for all that ask in one go. */
  addresses(): WaitAddresses {
    this.#addresses ??= addressesOf(this.message);
    return this.#addresses;
  }

  /** Counts towards what a run may return and export, over all that it was and will be. */
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

  /** Whether there would be room for it. */
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
    this.#summary = cutChars(textOf(value), this.program.limits.descriptionChars);
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
    this.program.flush(); // the code may keep the CPU from here on
    this.#answer = SENT;
  }

  stepEnded(tuple: StepTuple): void {
    this.#step = tuple;
  }

  /** Tells the server how far it is: a process that dies in the next step is blamed on that step, and what was made before it stands. */
  reportStep(): void {
    if (this.#step === null) return;
    const { run } = this.message;
    this.#post({ t: 'step', run, step: this.#step, ...this.#progress() }, null);
    this.#step = null;
    this.program.flush();
  }

  /** `step`: whose code threw it; an earlier step's left-over work can fail the run too. */
  fail(value: unknown, step: number = this.currentStep?.index ?? 0): void {
    if (this.ended) return;
    this.end({ kind: 'failed', fault: this.program.capture.fault({ value, step }) });
  }

  halt(): void {
    this.end({ kind: 'halted' });
  }

  /** Its code could not be loaded. */
  cannotBegin(fault: ChildFault): void {
    if (this.ended) return;
    this.ended = true;
    this.program.post({ t: 'broken', run: this.message.run, fault });
    this.program.ended(this);
  }

  end(end: End): void {
    if (this.ended) return;
    this.ended = true;
    // Left-over work can fail a step that has returned: it is told of once, as failed.
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
      isTainted: (end.kind === 'failed' && this.#taints(end.fault)) || undefined,
      dbWrites: end.kind === 'succeeded' && this.dbWrites.size > 0 ? Object.fromEntries(this.dbWrites) : undefined,
    };
    this.#post(message, answer?.body ?? null);
    this.program.ended(this);
    for (const clean of this.cleaning) clean();
  }

  #post(whole: EndMessage | StepMessage, body: Uint8Array | null): void {
    const weight = this.#weighed();
    let light: ReturnType<typeof withoutBulk> = { message: whole, texts: [] };
    try {
      light = withoutBulk(whole, weight);
    } catch {
      // The code has broken the language: as it is, the message says at least how the run ended.
    }
    this.program.post(light.message, body === null ? light.texts : [body, ...light.texts], weight);
  }

  /** Whether no other run should follow in this process. */
  #taints(fault: ChildFault | undefined): boolean {
    return fault?.code === 'WorkerExit' || !this.program.isIntact();
  }

  #progress(): RunProgress {
    const logs = this.log.take();
    return { logs, dropped: this.log.bytesDropped || undefined, outgoing: this.outbox.take(), summary: this.#summary };
  }

  #weighed(): number {
    const weight = this.#weight + this.outbox.bytes + this.log.bytesKept + bytesOf(this.dbWrites);
    this.#weight = 0;
    return weight;
  }
}

function bytesOf(writes: ReadonlyMap<string, string | null>): number {
  let bytes = 0;
  for (const [name, text] of writes) bytes += name.length + (text?.length ?? 0);
  return bytes;
}

function bytesBefore(goingOn: RunMessage['goingOn']): number {
  if (!goingOn) return 0;
  // The request that had a step executed again becomes that step's.
  const request = goingOn.reruns === null ? null : goingOn.callback;
  return keptBytes(goingOn.steps) + resumeBytes(request);
}

const SENT: Answer = { head: { status: 0, headers: {} }, body: new Uint8Array() };
