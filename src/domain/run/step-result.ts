// The result of a step, and its logs.

export interface LogLine {
  readonly tsMs: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly namespace: string;
  readonly text: string;
}

export interface StepResult {
  readonly id: string;
  readonly namespace: string;
  readonly state: 'succeeded' | 'failed' | 'exited';
  readonly startedAtMs: number;
  readonly tookMs: number;
  /** JSON text; undefined when the step returned nothing. */
  readonly returnValue?: string;
  /** Name → JSON text. */
  readonly exports: Readonly<Record<string, string>>;
  /** JSON text of the body of the request that ended the wait behind this step; undefined: no such request. */
  readonly resumeData?: string;
  /** The step is executed again (`$.flow.rerun`): its result is shown, but it is not done. */
  readonly isAgain?: true;
}
