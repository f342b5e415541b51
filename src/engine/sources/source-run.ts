// What a source's run needs beyond a workflow's: configuration, endpoints, db.

import type { Urls } from '../../domain/endpoint.ts';
import type { ConfiguredSource, Dedupe, Deployment } from '../../domain/resource.ts';
import { type ClaimedRun, NO_OUTCOME, type RunOutcome } from '../../domain/run/run.ts';
import type { Clock } from '../../ports.ts';
import type { SourceRunInput } from '../../runner/runner.ts';
import type { Store } from '../../store/contract/store.ts';
import { propsInput } from '../components/component-props.ts';
import type { PropStores } from '../components/prop-stores.ts';
import { hooksOf } from './hooks.ts';

/** Returns null when the source is gone. Reads its current db. */
export async function sourceInput(
  deps: { store: Store; propStores: PropStores },
  run: ClaimedRun,
  endpointUrl: Urls['endpointUrl'],
): Promise<{ input: SourceRunInput; dedupe: Dedupe | null } | null> {
  const { store, propStores } = deps;
  const { ownerId, id: sourceId } = run.runnable;
  // Each of these is a round trip on Postgres.
  const [source, db] = await Promise.all([store.getConfiguredSource(ownerId, sourceId), store.readSourceDb(sourceId)]);
  if (!source) return null;
  const { configuredProps: configured, additionalProps: additional, dedupe } = source;
  const [endpoints, props] = await Promise.all([
    endpointsOf(store, source, endpointUrl),
    propsInput(propStores, ownerId, { configured, additional }),
  ]);
  const call = hooksOf(run.emission) ?? 'run';
  return { input: { ...props, sourceId, call, endpoints, db }, dedupe };
}

/** Returns the name of each `$.interface.http` prop with the address of its endpoint. */
export async function endpointsOf(
  store: Store,
  source: ConfiguredSource,
  endpointUrl: Urls['endpointUrl'],
): Promise<Record<string, string>> {
  const endpoints: Record<string, string> = {};
  if (Object.values(source.configuredProps).every((value) => triggerIdIn(value) === undefined)) return endpoints;
  for (const trigger of await store.listTriggers(source.ownerId, source.id)) {
    if (trigger.key === null) continue;
    for (const name of httpProps(source.configuredProps, trigger.id)) endpoints[name] = endpointUrl(trigger.key);
  }
  return endpoints;
}

/** Returns the `$.interface.http` props that this trigger serves: their configured value is `{triggerId}`. */
function httpProps(configuredProps: Readonly<Record<string, unknown>>, triggerId: string): string[] {
  return Object.entries(configuredProps)
    .filter(([, value]) => triggerIdIn(value) === triggerId)
    .map(([name]) => name);
}

function triggerIdIn(value: unknown): unknown {
  return (value as { triggerId?: unknown } | null | undefined)?.triggerId;
}

/** Fails the run for an emission with an id that its dedupe strategy cannot judge, instead of dropping it silently. */
export function checkDedupe(
  outcome: RunOutcome,
  { deployment, dedupe }: { readonly deployment: Deployment; readonly dedupe: Dedupe },
  clock: Clock,
): RunOutcome {
  if (outcome.end.kind !== 'succeeded') return outcome;
  const why = outcome.outgoing.map((out) => (out.kind === 'emit' ? whyNotJudged(dedupe, out.itemId) : null));
  const found = why.find((text) => text !== null);
  if (found === undefined) return outcome;
  const step = deployment.steps[0];
  const fault = {
    code: 'ConfigurationError',
    msg: `${found} Nothing of this run was emitted.`,
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

const SHOWN_CHARS = 80;

function whyNotJudged(dedupe: Dedupe, id: string | null): string | null {
  if (id === null) {
    return 'The component sets dedupe, and emitted an event without an id: this.$emit(event, {id, …}).';
  }
  if (dedupe !== 'greatest' || (id.trim() !== '' && !Number.isNaN(Number(id)))) return null;
  return `The component sets dedupe to "greatest", and emitted an event whose id is no number: ${JSON.stringify(id.slice(0, SHOWN_CHARS))}.`;
}
