// Moves of the tests of groups of errors.

import { equal } from 'node:assert/strict';
import type { ErrorGroup, GroupChange, GroupOrder } from '../../../src/domain/errors/group.ts';
import { NOTICE_LIMITS } from '../../../src/domain/notices/limits.ts';
import type { Workflow } from '../../../src/domain/resource.ts';
import { type Fault, NO_OUTCOME, type RunOutcome } from '../../../src/domain/run/run.ts';
import type { GroupQuery, GroupWhole } from '../../../src/store/contract/error-groups.ts';
import { aFault, defined, only } from '../fixtures.ts';
import type { Stage } from '../stage.ts';

export const failing = (fault: Partial<Fault>): RunOutcome => ({
  ...NO_OUTCOME,
  end: { kind: 'failed', fault: { ...aFault(), ...fault } },
});

/** A failed run of the workflow. Returns the entry of its error. */
export async function fail(stage: Stage, workflow: Pick<Workflow, 'id'>, fault: Partial<Fault> = {}): Promise<number> {
  return defined((await stage.end(await stage.started(workflow), failing(fault))).errorEntry);
}

export async function groups(stage: Stage, of: Partial<GroupQuery> = {}): Promise<readonly ErrorGroup[]> {
  const query = { ownerId: stage.owner.id, sort: 'last_seen' as const, ...of };
  return (await stage.store.listErrorGroups(query, { limit: 100 })).items;
}

export const whole = async (stage: Stage, { id }: Pick<ErrorGroup, 'id'>): Promise<GroupWhole> =>
  defined(await stage.store.getErrorGroup(stage.owner.id, id));

/** A group of one error of a workflow. */
export async function oneGroup(stage: Stage): Promise<{ workflow: Workflow; group: ErrorGroup }> {
  const workflow = await stage.workflow({ settings: { notify: false } });
  await fail(stage, workflow);
  return { workflow, group: only(await groups(stage)) };
}

export async function change(stage: Stage, { id }: Pick<ErrorGroup, 'id'>, to: GroupChange): Promise<ErrorGroup> {
  const changed = defined(await stage.store.updateErrorGroup(stage.owner.id, id, to));
  equal(changed.refused, false);
  return changed.group;
}

export const order = (stage: Stage, group: Pick<ErrorGroup, 'id'>, standing: GroupOrder): Promise<ErrorGroup> =>
  change(stage, group, { status: standing });

/** Resolves a group, and waits until that it recovered is told. */
export async function resolved(stage: Stage, group: Pick<ErrorGroup, 'id'>): Promise<void> {
  await order(stage, group, { state: 'resolved', inNextDeployment: false });
  stage.clock.advance(NOTICE_LIMITS.recoveryGraceMs);
}

export const muted = (until: { untilMs?: number; afterCount?: number; untilNextDeployment?: boolean }): GroupOrder => ({
  state: 'muted',
  untilMs: null,
  afterCount: null,
  untilNextDeployment: false,
  ...until,
});

/** The workflow with a deployment of its own that is active now. */
export async function redeployed(stage: Stage, workflow: Workflow): Promise<Workflow> {
  const next = { ...workflow, deploymentId: stage.ids.next('d_') };
  const write = { workflow: next, deployment: stage.make.deployment(next), triggers: [], subscriptions: [] };
  equal(await stage.store.updateWorkflow(write), true);
  return next;
}

export const stateOf = async (stage: Stage, group: ErrorGroup): Promise<string> =>
  (await whole(stage, group)).group.state;
