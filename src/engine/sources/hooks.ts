// Hooks of a source run as one run: their emissions, their db writes and the ids for dedupe are committed together
// when the last hook has succeeded, and not at all when one throws.

import { text, utf8 } from '../../domain/bytes.ts';
import { directEmission, type HOOK_NAMES, type HookEvent } from '../../domain/emission.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Fault } from '../../domain/run/run.ts';
import { stepsIn } from '../../domain/run/run-trace.ts';
import type { ComponentShape, Hook } from '../../runner/runner.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Emit } from '../accept/emit.ts';

/** Channels that make a source run hooks instead of `run`; user code cannot emit on them. */
const HOOK_CHANNELS: Readonly<Record<(typeof HOOK_NAMES)[number], Hook>> = {
  $deploy: 'deploy',
  $activate: 'activate',
  $deactivate: 'deactivate',
};

export interface HookDeps {
  readonly store: Store;
  readonly emit: Emit;
}

interface Hooked {
  readonly source: { readonly ownerId: string; readonly id: string };
  readonly shape: ComponentShape;
  /** When a hook throws, the source is refused. */
  readonly creates?: boolean;
}

/** Returns the requested hooks of a run; null: it is an ordinary one. */
export function hooksOf(emission: { readonly name: string; readonly body: Uint8Array }): readonly Hook[] | null {
  const first = HOOK_CHANNELS[emission.name as keyof typeof HOOK_CHANNELS];
  if (first === undefined) return null;
  const { hooks } = JSON.parse(text(emission.body)) as { hooks?: readonly Hook[] };
  return hooks ?? [first];
}

/** Runs the hooks that the component has. Throws `Refusal` (422) with message and stack when one failed. */
export async function runHooks(
  deps: HookDeps,
  { source, shape, creates }: Hooked,
  hooks: readonly Hook[],
): Promise<void> {
  const asked = hooks.filter((hook) => shape.hooks.includes(hook));
  const [first] = asked;
  if (first === undefined) return;
  const event = utf8(JSON.stringify({ hooks: asked, ...(creates ? { creates } : {}) } satisfies HookEvent));
  const emission = { ...directEmission(source.ownerId, source.id, event), name: `$${first}` };
  const { appended, ended } = await deps.emit(emission, { wantsEnd: true });
  if (!ended) throw new Refusal('rate_limited', `the queue of ${source.id} is full: hook ${first} cannot run now`);
  const { end } = await ended;
  if (end.kind === 'cancelled') throw new Refusal('conflict', `hook ${first} of ${source.id} was cancelled`);
  if (end.kind !== 'failed') return;
  const hook = asked.length === 1 ? first : await failedHook(deps.store, source.ownerId, appended.firstRun as number);
  throw refusalOf(hook ?? asked.join(' or '), end.fault);
}

function refusalOf(hook: string, fault: Fault): Refusal {
  return new Refusal('impossible', `hook ${hook} threw ${fault.code}: ${fault.msg}`, {
    errors: [{ parameter: `hooks.${hook}`, message: `${fault.msg}\n${fault.stack}`.trim() }],
  });
}

/** Returns the last hook in the run's record, since another node may have executed it. */
async function failedHook(store: Store, ownerId: string, run: number): Promise<string | null> {
  const record = await store.getRun(ownerId, run);
  // Cut out, not parsed: the code's other exports may be millions of values.
  const hook = stepsIn(record?.detail ?? '{}').at(-1)?.exports.$hook;
  return hook?.startsWith('"') ? (JSON.parse(hook) as string) : null;
}
