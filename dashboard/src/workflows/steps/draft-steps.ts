// The steps that a draft makes of those that are deployed, and what changes a draft. Another version may be deployed at any time:
// a draft says what is changed, and is laid over whatever is deployed by then.

import { freeName } from '../../../../src/domain/steps/step-name.ts';
import type { WorkflowStep } from '../../api/types.ts';
import { type Draft, type DraftStep, NO_DRAFT } from './draft.ts';

/** The code of a step that is added. */
export const NEW_STEP = `export default async ({ steps, $ }) => {
  return steps.trigger.event;
};
`;

export interface ShownStep extends DraftStep {
  /** As it is deployed; null: it is new. */
  readonly deployed: WorkflowStep | null;
  /** As it is deployed; of a new one, as it began. */
  readonly saved: string;
  /** Undefined: nothing is typed. */
  readonly typed: string | undefined;
}

type Deployed = readonly WorkflowStep[];

export function codeOf({ typed, saved }: Pick<ShownStep, 'typed' | 'saved'>): string {
  return typed ?? saved;
}

/** Returns the steps of a draft in their order. */
export function shownSteps(deployed: Deployed, draft: Draft): ShownStep[] {
  const known = new Map(deployed.map((step) => [step.namespace, step]));
  return orderOf(deployed, draft).map(({ id, name }) => {
    const step = known.get(id) ?? null;
    return { id, name, deployed: step, saved: step ? (step.code ?? '') : NEW_STEP, typed: draft.code.get(id) };
  });
}

function orderOf(deployed: Deployed, { steps, removed, code }: Draft): DraftStep[] {
  const asDeployed = deployed.map(({ namespace }): DraftStep => ({ id: namespace, name: namespace }));
  const ids = new Set(asDeployed.map(({ id }) => id));
  // Code of a step that another version has removed is not lost: it is a new step.
  const stays = ({ id }: DraftStep): boolean => ids.has(id) || isNew(id) || code.has(id);
  const order = (steps ?? asDeployed).filter(stays);
  const lost = [...code.keys()].filter((id) => !ids.has(id) && !isNew(id) && !order.some((step) => step.id === id));
  order.push(...lost.map((id) => ({ id, name: id })));
  for (const [i, step] of asDeployed.entries()) {
    if (removed.has(step.id) || order.some(({ id }) => id === step.id)) continue;
    // Behind all steps that it follows: it may refer to them.
    const former = new Set(asDeployed.slice(0, i).map(({ id }) => id));
    order.splice(order.findLastIndex(({ id }) => former.has(id)) + 1, 0, step);
  }
  return order;
}

/** Begins the ids of new steps: no name does. */
const NEW = '+';
let made = 0;

/** Returns an id that no step has, and none had. */
export function newId(): string {
  return `${NEW}${++made}`;
}

function isNew(id: string): boolean {
  return id.startsWith(NEW);
}

/** Returns whether which steps there are, their names or their order are changed. */
export function isRearranged(deployed: Deployed, shown: readonly DraftStep[]): boolean {
  return (
    shown.length !== deployed.length ||
    shown.some(({ id, name }, i) => id !== deployed[i]?.namespace || name !== deployed[i].namespace)
  );
}

export function isChanged(deployed: Deployed, shown: readonly ShownStep[]): boolean {
  return isRearranged(deployed, shown) || shown.some((step) => codeOf(step) !== step.saved);
}

interface Version {
  readonly deployed: Deployed;
  readonly version: string;
}

/** Returns a draft without what is deployed by now. */
export function settled(draft: Draft, { deployed, version }: Version): Draft {
  const shown = shownSteps(deployed, draft);
  const code = new Map(
    shown.flatMap((step) =>
      step.typed === undefined || (step.deployed && step.typed === step.saved) ? [] : [[step.id, step.typed]],
    ),
  );
  const isAsDeployed = !isRearranged(deployed, shown);
  const isSame = code.size === draft.code.size && (draft.steps === null) === isAsDeployed;
  if (isAsDeployed && code.size === 0) return draft.base === null ? draft : { ...NO_DRAFT, written: draft.written };
  if (isSame && draft.base !== null) return draft;
  const steps = isAsDeployed ? null : shown.map(({ id, name }) => ({ id, name }));
  const removed = isAsDeployed ? NO_DRAFT.removed : draft.removed;
  return { ...draft, code, steps, removed, base: draft.base ?? version };
}

export function withCode(draft: Draft, version: string, [id, text]: readonly [string, string]): Draft {
  return { ...draft, code: new Map([...draft.code, [id, text]]), base: draft.base ?? version };
}

/** Returns a draft with the steps in another arrangement: `arrange` gets them as they are shown. */
export function rearranged(
  draft: Draft,
  of: Version,
  arrange: (steps: readonly DraftStep[]) => readonly DraftStep[],
): Draft {
  const before = shownSteps(of.deployed, draft).map(({ id, name }) => ({ id, name }));
  const steps = arrange(before);
  const gone = before.filter(({ id }) => !steps.some((step) => step.id === id)).map(({ id }) => id);
  const code = new Map([...draft.code].filter(([id]) => !gone.includes(id)));
  const removed = new Set([...draft.removed, ...gone.filter((id) => !isNew(id))]);
  return settled({ ...draft, code, steps, removed, base: draft.base ?? of.version }, of);
}

export function unusedName(steps: readonly DraftStep[]): string {
  return freeName(new Set(steps.map(({ name }) => name)));
}

export function moved(steps: readonly DraftStep[], id: string, by: -1 | 1): readonly DraftStep[] {
  const from = steps.findIndex((step) => step.id === id);
  const [step, other] = [steps[from], steps[from + by]];
  if (!step || !other) return steps;
  return steps.map((one) => (one === step ? other : one === other ? step : one));
}

/** What was sent, and the draft that it was made of. */
interface Sent {
  readonly draft: Draft;
  readonly steps: readonly ShownStep[];
}

/** Returns what is left of a draft when it was deployed: what was changed meanwhile. */
export function afterDeployment(now: Draft, sent: Sent, of: Version): Draft {
  const names = new Map(sent.steps.map(({ id, name }) => [id, name]));
  const idOf = (id: string): string => names.get(id) ?? id;
  const typed = new Map(sent.steps.map(({ id, typed }) => [id, typed]));
  const code = new Map(
    [...now.code].filter(([id, text]) => typed.get(id) !== text).map(([id, text]) => [idOf(id), text]),
  );
  const isSame = now.steps === sent.draft.steps;
  const steps = isSame ? null : (now.steps?.map(({ id, name }) => ({ id: idOf(id), name })) ?? null);
  const isThere = (id: string): boolean => of.deployed.some(({ namespace }) => namespace === id);
  const removed = isSame ? NO_DRAFT.removed : new Set([...now.removed].map(idOf).filter(isThere));
  return settled({ ...now, code, steps, removed, base: of.version }, of);
}
