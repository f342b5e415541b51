// What a source's run needs beyond a workflow's: its configuration, its endpoints, its db.

import type { Dedupe, Deployment } from '../domain/resource.ts';
import { type ClaimedRun, NO_OUTCOME, type RunOutcome } from '../domain/run.ts';
import type { Clock } from '../ports.ts';
import type { SourceInput } from '../runner/runner.ts';
import type { Store } from '../store/store.ts';
import { resolveProps } from './accounts.ts';

/** Channels on which the service asks a source to run a hook instead of `run`; the name says which. */
export const HOOKS = { $deploy: 'deploy', $activate: 'activate', $deactivate: 'deactivate' } as const;

export type HookChannel = keyof typeof HOOKS;

interface Prepared {
  readonly input: SourceInput;
  readonly dedupe: Dedupe | null;
}

/** Null: the source is gone. `missing`: in words, why its props cannot be had. */
export async function sourceInput(
  store: Store,
  run: ClaimedRun,
  publicUrl: string,
): Promise<Prepared | { readonly missing: string } | null> {
  const { ownerId, id: sourceId } = run.runnable;
  const source = await store.getSource(ownerId, sourceId);
  if (!source) return null;
  const endpoints: Record<string, string> = {};
  for (const trigger of await store.listTriggers(ownerId, sourceId)) {
    if (trigger.key === null) continue;
    for (const name of httpProps(source.configuredProps, trigger.id)) endpoints[name] = `${publicUrl}/e/${trigger.key}`;
  }
  const call = HOOKS[run.emission.name as HookChannel] ?? 'run';
  const resolved = await resolveProps(store, ownerId, source.configuredProps);
  if ('missing' in resolved) return resolved;
  const { props: configuredProps } = resolved;
  const { dedupe } = source;
  return { input: { sourceId, call, configuredProps, endpoints, db: await store.readSourceDb(sourceId) }, dedupe };
}

/** Names of the `$.interface.http` props that this trigger serves: their configured value is `{triggerId}`. */
function httpProps(configuredProps: Readonly<Record<string, unknown>>, triggerId: string): string[] {
  return Object.entries(configuredProps)
    .filter(([, value]) => (value as { triggerId?: unknown } | null)?.triggerId === triggerId)
    .map(([name]) => name);
}

/** Under a dedupe strategy an emission without an id is an error, never a silent drop. */
export function checkDedupe(outcome: RunOutcome, deployment: Deployment, clock: Clock): RunOutcome {
  if (outcome.end.kind !== 'succeeded') return outcome;
  if (outcome.outgoing.every((out) => out.kind !== 'emit' || out.itemId !== null)) return outcome;
  const step = deployment.steps[0];
  const fault = {
    code: 'ConfigurationError',
    msg: 'The component sets dedupe, and emitted an event without an id: this.$emit(event, {id, …}). Nothing of this run was emitted.',
    cellId: step?.id ?? '',
    namespace: step?.namespace ?? '',
    tsMs: clock.nowMs(),
    stack: '',
  };
  const { steps, logBytesDropped } = outcome;
  const line = { tsMs: fault.tsMs, level: 'error' as const, namespace: fault.namespace, text: fault.msg };
  const logs = [...outcome.logs, line];
  return { ...NO_OUTCOME, steps, logs, logBytesDropped, end: { kind: 'failed', fault } };
}
