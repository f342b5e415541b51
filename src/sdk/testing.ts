// Runs a workflow file's code in a test of yours, with the event of an error that happened (`GET /v1/errors/{id}/fixture`).
// No server, no waiting and no sending: what code asks of `$` is noted down.

/** What `GET /v1/errors/{id}/fixture` answers. */
export interface Fixture {
  readonly fixture: 1;
  readonly id: string;
  readonly emitter_id: string;
  readonly step: { readonly namespace: string; readonly id: string };
  readonly error: { readonly code: string; readonly msg: string; readonly stack: string };
  readonly original_context: Readonly<Record<string, unknown>>;
  /** The event's text, exactly as it arrived. */
  readonly original_event_text?: string;
  /** In its place, should the bytes be no UTF-8. */
  readonly original_event_base64?: string;
  /** True: rules hide a part of the event or of the error, so the code gets `[redacted]` in its place. */
  readonly redacted?: boolean;
}

export interface FixtureRun {
  readonly state: 'succeeded' | 'failed';
  /** The fixture is redacted: the code did not get all that it failed of. */
  readonly redacted: boolean;
  /** The step that threw; null: none did. */
  readonly step: string | null;
  /** What it threw, itself. */
  readonly thrown: unknown;
  /** Of what was thrown: its `code` or else its name, and its message, as the service would list them. */
  readonly error: { readonly code: string; readonly msg: string } | null;
  /** What each step left: its exports and `$return_value`, as JSON keeps them. */
  readonly steps: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** What the code passed to `$.respond`, `$.send` and `$.flow`, in order. */
  readonly asked: readonly { readonly step: string; readonly call: string; readonly args: readonly unknown[] }[];
}

export interface FixtureOptions {
  /** For the time of the run, in `process.env`, beside the workflow's `settings.env`. */
  readonly env?: Readonly<Record<string, string>>;
  /** What a request to the `resume_url` of a step would have brought, by the step: `$resume_data` of it. */
  readonly resumed?: Readonly<Record<string, unknown>>;
}

interface RunnableStep {
  readonly namespace: string;
  readonly code: unknown;
}

type Results = Record<string, Record<string, unknown>>;
type Asked = { readonly step: string; readonly call: string; readonly args: readonly unknown[] };
type Code = (this: unknown, given: object) => unknown;

/** Returns the text of the event, as it arrived. */
export function eventTextOf(fixture: Fixture): string {
  const { original_event_text: text, original_event_base64: base64 } = fixture;
  if (text !== undefined) return text;
  if (base64 === undefined) throw new TypeError('the fixture has no event: it is not from GET /v1/errors/{id}/fixture');
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
}

/**
 * Runs all steps with the fixture's event. `code`: a workflow (the file's default export), or the function or component of one
 * step. Never rejects for what the code throws; a wait (`$.flow.delay` and the like) is over at once.
 */
export async function runFixture(code: unknown, fixture: Fixture, options: FixtureOptions = {}): Promise<FixtureRun> {
  const steps = stepsOf(code, fixture);
  const raw = eventTextOf(fixture);
  const context = { ...fixture.original_context, replay: true };
  const results: Results = {};
  const asked: Asked[] = [];
  const redacted = fixture.redacted === true || fixture.original_context.redacted === true;
  const left = { redacted, steps: results, asked };
  const restore = withEnv({ ...envOf(code), ...options.env });
  try {
    for (const step of steps) {
      const failed = await perform(step, { raw, context, results, asked, resumed: options.resumed ?? {} });
      if (failed === 'exit') break;
      if (failed) return { state: 'failed', step: step.namespace, ...failed, ...left };
    }
    return { state: 'succeeded', step: null, thrown: undefined, error: null, ...left };
  } finally {
    restore();
  }
}

interface Run {
  readonly raw: string;
  readonly context: object;
  readonly results: Results;
  readonly asked: Asked[];
  readonly resumed: Readonly<Record<string, unknown>>;
}

type Failed = Pick<FixtureRun, 'thrown' | 'error'>;

/** Returns what went wrong; `exit`: the code ended the run; null: the next step follows. */
async function perform({ namespace, code }: RunnableStep, run: Run): Promise<Failed | 'exit' | null> {
  const { raw, context, results, asked, resumed } = run;
  for (let runs = 1, passed: unknown; ; runs++) {
    const exports: Record<string, unknown> = {};
    const before = asked.length;
    // Each step sees a copy of its own, as in the service.
    const trigger = { event: JSON.parse(raw) as unknown, raw, context: { ...context } };
    const given = {
      steps: { trigger, ...structuredClone(results) },
      $: stepApi({ step: namespace, asked, exports, context: { ...context, run: { runs, context: passed } } }),
      event: trigger.event,
      context: trigger.context,
    };
    try {
      const returned = await call(code, given);
      const left = { ...exports, $return_value: returned, $resume_data: resumed[namespace] };
      results[namespace] = JSON.parse(JSON.stringify(left)) as Record<string, unknown>;
    } catch (thrown) {
      return { thrown, error: described(thrown) };
    }
    const calls = asked.slice(before);
    if (calls.some((one) => one.call === 'flow.exit')) return 'exit';
    const again = calls.findLast((one) => /^flow\.(rerun|delay|suspend)$/.test(one.call));
    if (again?.call !== 'flow.rerun') return null;
    const [, next, max = 10] = again.args as [unknown, unknown, number?];
    if (runs > max) return null;
    passed = next;
  }
}

function call(code: unknown, given: object): unknown {
  if (typeof code === 'function') return (code as Code)(given);
  const component = code as { readonly run: Code };
  return component.run.call(component, given);
}

interface ApiOf {
  readonly step: string;
  readonly asked: Asked[];
  readonly exports: Record<string, unknown>;
  readonly context: object;
}

function stepApi({ step, asked, exports, context }: ApiOf): object {
  const note =
    (name: string) =>
    (...args: readonly unknown[]) => {
      asked.push({ step, call: name, args });
    };
  const waits =
    (name: string) =>
    (...args: readonly unknown[]) => {
      asked.push({ step, call: name, args });
      return { resume_url: 'http://localhost/r/resume', cancel_url: 'http://localhost/r/cancel' };
    };
  return {
    export: (name: string, value: unknown) => {
      exports[name] = value;
    },
    respond: async (answer?: unknown) => note('respond')(answer),
    context,
    send: { emit: note('send.emit'), email: note('send.email'), http: note('send.http') },
    flow: {
      exit: note('flow.exit'),
      delay: waits('flow.delay'),
      suspend: waits('flow.suspend'),
      rerun: waits('flow.rerun'),
      trigger: note('flow.trigger'),
    },
  };
}

/** Codes of the service, which what code throws cannot have. */
const RESERVED: ReadonlySet<unknown> = new Set([
  ...[
    'Timeout',
    'OutOfMemory',
    'WorkerLost',
    'WorkerExit',
    'StartFailed',
    'PayloadTooLarge',
    'QueueFull',
    'RateLimited',
  ],
  ...['DeliveryExhausted', 'DeliveryRefused', 'WebhookGone', 'WebhookFailing', 'WebhookDisabled'],
  ...['Silent', 'Unhealthy', 'HeartbeatFailed', 'ThrownAfterEnd', 'LostAfterEnd', 'Internal'],
]);
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const CODE_CHARS = 128;
const MESSAGE_CHARS = 8192;
/** Of an AggregateError. */
const INNER_ERRORS = 10;
const INNER_CHARS = 500;

function isReserved(code: string): boolean {
  return RESERVED.has(code.slice(0, CODE_CHARS).replace(INVISIBLE, '').trim());
}

/** Returns what was thrown as the service would list it. */
function described(thrown: unknown): { code: string; msg: string } {
  if (!(thrown instanceof Error)) return { code: 'Error', msg: textOf(thrown).slice(0, MESSAGE_CHARS) };
  const { code, name } = thrown as { code?: unknown; name?: unknown };
  const number = Number.isSafeInteger(code) && Object.hasOwn(thrown, 'code') ? `${code}` : code;
  const claimed = [number, name].find((one) => typeof one === 'string' && one !== '' && !isReserved(one));
  return { code: String(claimed ?? 'Error').slice(0, CODE_CHARS), msg: messageOf(thrown).slice(0, MESSAGE_CHARS) };
}

function messageOf(error: Error): string {
  const message = textOf(error.message);
  if (!(error instanceof AggregateError) || error.errors.length === 0) return message;
  const inner = error.errors.slice(0, INNER_ERRORS).map((one: unknown) => {
    const said = textOf(one instanceof Error ? one.message : one);
    return said.slice(0, INNER_CHARS).replace(/\s+/g, ' ');
  });
  if (error.errors.length > INNER_ERRORS) inner.push(`and ${error.errors.length - INNER_ERRORS} more`);
  return message === '' ? inner.join('; ') : `${message}: ${inner.join('; ')}`;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { inspect } = process.getBuiltinModule('node:util');
  return inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY, customInspect: false, getters: false });
}

/** Returns the variables that a workflow sets for its code. */
function envOf(code: unknown): Readonly<Record<string, string>> {
  const workflow = code as { readonly kind?: unknown; readonly settings?: { readonly env?: Record<string, string> } };
  return (workflow?.kind === 'errand.workflow' && workflow.settings?.env) || {};
}

function stepsOf(code: unknown, { step }: Fixture): readonly RunnableStep[] {
  if (typeof code === 'function') return [{ namespace: step.namespace || 'step', code }];
  const workflow = code as {
    readonly kind?: unknown;
    readonly steps?: readonly RunnableStep[];
    readonly run?: unknown;
  };
  if (workflow?.kind === 'errand.workflow') return workflow.steps ?? [];
  if (typeof workflow?.run === 'function') return [{ namespace: step.namespace || 'step', code }];
  throw new TypeError('runFixture takes what defineWorkflow returned, or the function or component of one step');
}

function withEnv(env: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
