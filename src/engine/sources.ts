// Event sources: deployed from component code, their interfaces turned into triggers, their hooks run as runs, so that
// what a hook emits and remembers is committed like everything else.

import { utf8 } from '../domain/bytes.ts';
import { Refusal } from '../domain/fault.ts';
import { PREFIX } from '../domain/ids.ts';
import type { ShownTrigger, SourceInput, TriggerInput, WholeSource } from '../domain/requests.ts';
import { DEDUPES, DEFAULT_SETTINGS, type Dedupe, type Deployment, type Source } from '../domain/resource.ts';
import type { ComponentShape, Runner } from '../runner/runner.ts';
import type { SourceWrite } from '../store/resources.ts';
import { makeDeployment } from './bundle.ts';
import type { Components } from './components.ts';
import { directEmission, releaseCallers } from './directs.ts';
import type { Emit } from './emit.ts';
import { checkReferences, hasInlineAuth } from './references.ts';
import { codeOf } from './source-code.ts';
import { checkProps, type PlannedInterface } from './source-props.ts';
import { HOOKS, type HookChannel } from './source-run.ts';
import { partsOf, planTriggers, reschedule, standingTriggers, type TriggerDeps } from './triggers.ts';
import type { Waiters } from './waiters.ts';

export interface SourceDeps extends TriggerDeps {
  readonly components?: Components;
  readonly runner: Runner;
  readonly emit: Emit;
  readonly waiters: Waiters;
  readonly wakeTimes: () => void;
}

interface Planned extends WholeSource {
  readonly deployment: Deployment | null;
  readonly shape: ComponentShape;
}

const NAMESPACE = 'source';

export function createSources(deps: SourceDeps) {
  const { store, ids, clock, runner } = deps;

  async function getSource(ownerId: string, id: string): Promise<WholeSource> {
    const source = await store.getSource(ownerId, id);
    if (!source) throw new Refusal('not_found', `there is no source ${id}`);
    return { source, triggers: await standingTriggers(store, ownerId, id) };
  }

  async function createSource(ownerId: string, input: SourceInput): Promise<WholeSource> {
    const id = input.ready?.id ?? ids.next(PREFIX.source);
    const planned = await plan({ ownerId, id }, input, null);
    const isActive = input.active ?? true;
    // Its endpoints exist before the first hook, and nothing ticks before the last one.
    await store.createSource(written(deps, { ...planned, source: { ...planned.source, active: isActive } }, false));
    try {
      await runHook(planned, '$deploy');
      if (isActive) await runHook(planned, '$activate');
    } catch (error) {
      await store.deleteSource(ownerId, id);
      throw error;
    }
    return switchOn(planned, isActive);
  }

  async function updateSource(ownerId: string, id: string, input: SourceInput): Promise<WholeSource> {
    const before = await getSource(ownerId, id);
    const planned = await plan({ ownerId, id }, input, before);
    const isActive = input.active ?? before.source.active;
    const standing = { ...before, ...(await currentShape(before.source)) };
    if (before.source.active) await runHook(standing, '$deactivate');
    // Read again: ticks have fired while the hook ran, and must not fire again if all goes back to how it was.
    const triggers = await standingTriggers(store, ownerId, id);
    await store.updateSource(written(deps, { ...planned, source: { ...planned.source, active: isActive } }, false));
    if (planned.deployment) runner.retire(before.source.deploymentId);
    if (!isActive) return switchOn({ ...planned, deployment: null }, false);
    try {
      await runHook(planned, '$activate');
    } catch (error) {
      await store.updateSource(written(deps, { ...before, triggers, deployment: null }, before.source.active));
      throw error;
    }
    return switchOn({ ...planned, deployment: null }, true);
  }

  async function deleteSource(ownerId: string, id: string): Promise<WholeSource> {
    const whole = await getSource(ownerId, id);
    // Its error is recorded as every run's is, and the delete goes on.
    const standing = { ...whole, ...(await currentShape(whole.source)) };
    if (whole.source.active) await runHook(standing, '$deactivate').catch(() => undefined);
    if (!(await store.deleteSource(ownerId, id))) throw new Refusal('not_found', `there is no source ${id}`);
    runner.retire(whole.source.deploymentId);
    await releaseCallers(deps, ownerId);
    return whole;
  }

  async function switchOn(planned: Planned, isActive: boolean): Promise<WholeSource> {
    const source = { ...planned.source, active: isActive };
    const write = written(deps, { ...planned, source, deployment: null }, isActive);
    if (!(await store.updateSource(write))) throw new Refusal('not_found', `there is no source ${source.id}`);
    deps.wakeTimes();
    return { source, triggers: await standingTriggers(store, source.ownerId, source.id) };
  }

  async function plan(
    of: { ownerId: string; id: string },
    input: SourceInput,
    before: WholeSource | null,
  ): Promise<Planned> {
    const { code, ready } = await codeOf(deps.components, input, { namespace: NAMESPACE, before });
    const previous = before ? await store.getDeployment(of.ownerId, before.source.deploymentId) : undefined;
    const isSame = previous?.steps[0]?.code === code;
    const made = isSame
      ? null
      : await makeDeployment(deps, { ...of, previous: previous ?? null, parameter: 'component_code' }, [
          { namespace: NAMESPACE, code, ready },
        ]);
    const deployment = made ?? (previous as Deployment);
    const shape = await describe(deployment);
    const configured = withoutInterfaces(withSecrets(input.configuredProps, before?.source), shape);
    const interfaces = checkProps(shape, configured, clock.nowMs());
    if (input.configuredProps) await checkReferences(store, of.ownerId, input.configuredProps);
    const nowMs = clock.nowMs();
    const source: Source = {
      ...of,
      name: input.name ?? before?.source.name ?? shape.name ?? of.id,
      active: false,
      deploymentId: deployment.id,
      settings: DEFAULT_SETTINGS,
      componentCode: code,
      configuredProps: configured,
      dedupe: shape.dedupe as Dedupe | null,
      secretProps: secretProps(shape, configured),
      createdAtMs: before?.source.createdAtMs ?? nowMs,
      updatedAtMs: nowMs,
    };
    const inputs = interfaces.map(triggerInput);
    const triggers = await planTriggers(deps, source, { inputs, standing: before?.triggers ?? [] });
    const configuredProps = { ...configured, ...interfaceProps(interfaces, triggers) };
    return { source: { ...source, configuredProps }, triggers, deployment: made, shape };
  }

  async function describe(deployment: Deployment): Promise<ComponentShape> {
    const described = await runner.describe(deployment);
    if (!described.ok) {
      throw new Refusal('code_invalid', `the component cannot be loaded: ${described.message}`, {
        errors: [{ parameter: 'component_code', message: `${described.message}\n${described.stack}`.trim() }],
      });
    }
    const { shape } = described;
    const wrong = whyNoSource(shape);
    if (wrong === null) return shape;
    throw new Refusal('impossible', wrong, { errors: [{ parameter: 'component_code', message: wrong }] });
  }

  async function currentShape(source: Source): Promise<{ shape: ComponentShape; deployment: null }> {
    const deployment = await store.getDeployment(source.ownerId, source.deploymentId);
    if (!deployment) throw new Refusal('not_found', `there is no source ${source.id}`);
    return { shape: await describe(deployment), deployment: null };
  }

  /** Runs a hook as a run of the source. Throws `Refusal` (422) with message and stack when it failed. */
  async function runHook({ source, shape }: Planned, channel: HookChannel): Promise<void> {
    const hook = HOOKS[channel];
    if (!shape.hooks.includes(hook)) return;
    const emission = { ...directEmission(source.ownerId, source.id, utf8(`{"hook":"${hook}"}`)), name: channel };
    const { ended } = await deps.emit(emission, { wantsEnd: true });
    if (!ended) throw new Refusal('rate_limited', `the queue of ${source.id} is full: hook ${hook} cannot run now`);
    const outcome = await ended;
    if (outcome.end.kind !== 'failed') return;
    const { fault } = outcome.end;
    const message = `hook ${hook} threw ${fault.code}: ${fault.msg}`;
    throw new Refusal('impossible', message, {
      errors: [{ parameter: `hooks.${hook}`, message: `${fault.msg}\n${fault.stack}`.trim() }],
    });
  }

  return { getSource, createSource, updateSource, deleteSource };
}

/** What the component says is secret, and what an account would hold. */
function secretProps(shape: ComponentShape, configured: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(shape.props).filter((prop) => {
    const { secret } = shape.props[prop] as { secret?: unknown };
    return secret === true || hasInlineAuth(configured[prop]);
  });
}

/** A secret that is not shown cannot be sent back: where an update leaves it out, it stays. */
function withSecrets(
  given: SourceInput['configuredProps'],
  before: Source | undefined,
): Readonly<Record<string, unknown>> {
  if (!before) return given ?? {};
  if (!given) return before.configuredProps;
  const kept = before.secretProps.filter((prop) => prop in before.configuredProps && !(prop in given));
  return { ...given, ...Object.fromEntries(kept.map((prop) => [prop, before.configuredProps[prop]])) };
}

function whyNoSource(shape: ComponentShape): string | null {
  if (shape.type !== 'source') return `the component is of type ${shape.type}, and a source has no type`;
  if (shape.dedupe !== null && !(DEDUPES as readonly string[]).includes(shape.dedupe)) {
    return `dedupe "${shape.dedupe}" is not known: it is one of ${DEDUPES.join(', ')}`;
  }
  return null;
}

function triggerInput(planned: PlannedInterface): TriggerInput {
  if (planned.kind === 'schedule')
    return { type: 'schedule', schedule: planned.schedule as NonNullable<PlannedInterface['schedule']> };
  return { type: 'http', customResponse: planned.customResponse, token: null };
}

interface InterfaceValue {
  readonly triggerId?: string;
}

/** What the service itself wrote into an http prop is not part of the configuration that a caller sends back. */
function withoutInterfaces(
  configured: Readonly<Record<string, unknown>>,
  shape: ComponentShape,
): Readonly<Record<string, unknown>> {
  const isHttp = (prop: string): boolean =>
    (shape.props[prop] as { type?: string } | undefined)?.type === '$.interface.http';
  return Object.fromEntries(Object.entries(configured).filter(([prop]) => !isHttp(prop)));
}

function interfaceProps(
  interfaces: readonly PlannedInterface[],
  triggers: readonly ShownTrigger[],
): Record<string, InterfaceValue> {
  const props: Record<string, InterfaceValue> = {};
  interfaces.forEach(({ prop, kind }, i) => {
    const id = triggers[i]?.trigger?.id;
    if (kind === 'http' && id !== undefined) props[prop] = { triggerId: id };
  });
  return props;
}

/** What the store writes; schedules tick only with `ticking`. */
function written(
  deps: SourceDeps,
  planned: WholeSource & { deployment: Deployment | null },
  ticking: boolean,
): SourceWrite {
  const { source, deployment } = planned;
  const listener = { ownerId: source.ownerId, id: source.id, active: ticking };
  return { source, deployment, ...partsOf(reschedule(deps, listener, planned.triggers)) };
}
