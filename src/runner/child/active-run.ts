// One run inside the child: what it has been given, what it has made so far, and its one end.

import type { Answer } from './answer.ts';
import type { Capture } from './capture.ts';
import { platformError } from './errors.ts';
import { Outbox } from './outbox.ts';
import {
  type ChildLimits,
  type EndMessage,
  type FromChild,
  type RunMessage,
  STEP_STATE,
  type StepTuple,
} from './protocol.ts';
import { Questions } from './questions.ts';
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
  readonly post: (message: FromChild, blob?: Uint8Array | null, weight?: number) => void;
  /** Writes out at once what has been posted. */
  readonly flush: () => void;
  readonly ended: (run: ActiveRun) => void;
}

type End = Pick<EndMessage, 'kind' | 'exitReason' | 'fault'>;

export class ActiveRun {
  readonly program: Program;
  readonly message: RunMessage;
  readonly #event: Uint8Array;
  readonly log: RunLog;
  readonly outbox: Outbox;
  /** `steps` as the code sees it. */
  readonly results: Record<string, unknown> = {};
  readonly dbWrites = new Map<string, string | null>();
  /** What is to be done when it has ended. */
  readonly cleaning: (() => void)[] = [];
  /** After its end nothing that its code still does has an effect. */
  ended = false;
  exitReason: string | undefined;
  currentStep: { index: number; tuple(state: number, returned: string | null): StepTuple } | null = null;
  #steps: StepTuple[] = [];
  #answer: Answer | null = null;
  #summary: string | undefined;
  #resultBytes = 0;
  #questions: Questions | null = null;

  constructor(program: Program, message: RunMessage, event: Uint8Array) {
    this.program = program;
    this.message = message;
    this.#event = event;
    this.log = new RunLog(program.limits.logBytes);
    this.outbox = new Outbox(program.limits);
  }

  /** The event's exact text. */
  eventText(): string {
    const { buffer, byteOffset, byteLength } = this.#event;
    return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  }

  /** What its code asks the server. */
  get questions(): Questions {
    const { program, message } = this;
    this.#questions ??= new Questions({
      run: message.run,
      limits: program.limits,
      post: (ask, value) => program.post(ask, value),
      isOver: () => this.ended,
    });
    return this.#questions;
  }

  /** Null when its code waits for no answer. */
  asked(): Promise<void> | null {
    return this.#questions?.settled() ?? null;
  }

  /** Counts towards what a run may return and export. */
  countResult(text: string): string {
    const { resultBytes } = this.program.limits;
    this.#resultBytes += Buffer.byteLength(text);
    if (this.#resultBytes <= resultBytes) return text;
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
    this.#steps.push(tuple);
  }

  /** Tells the server how far it is, so that a process that dies in the next step is blamed on that step. */
  tellSteps(): void {
    for (const step of this.#steps) this.program.post({ t: 'step', run: this.message.run, step });
    this.#steps = [];
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

  end(end: End): void {
    if (this.ended) return;
    this.ended = true;
    if (end.kind !== 'succeeded' && this.currentStep !== null)
      this.#steps.push(this.currentStep.tuple(STEP_STATE.failed, null));
    const answer = this.#answer === SENT ? null : this.#answer;
    const message: EndMessage = {
      t: 'end',
      run: this.message.run,
      ...end,
      steps: this.#steps,
      logs: this.log.lines,
      dropped: this.log.bytesDropped || undefined,
      outgoing: this.outbox.take(),
      answer: answer?.head,
      bytes: answer?.body.byteLength,
      summary: this.#summary,
      dbWrites: end.kind === 'succeeded' && this.dbWrites.size > 0 ? Object.fromEntries(this.dbWrites) : undefined,
    };
    this.program.post(message, answer?.body ?? null, this.#resultBytes + this.outbox.bytes + this.log.bytesKept);
    this.program.ended(this);
    for (const clean of this.cleaning) clean();
  }
}

const SENT: Answer = { head: { status: 0, headers: {} }, body: new Uint8Array() };
