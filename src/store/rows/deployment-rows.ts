// Rows of deployments to records and back. Their props are sealed. What is long of their code stands apart, by its hash, so
// that it is stored once: 5,000 sources of one component have 200 KB of it in common. What is short stays in the step,
// where it takes less than its hash would.

import { createHash } from 'node:crypto';
import { LIMITS } from '../../domain/limits.ts';
import type { Deployment, Step } from '../../domain/resource.ts';
import type { Seal } from '../seal/seal.ts';
import { stepPropsPlace } from '../seal/sealed-columns.ts';
import type { Row } from './rows.ts';
import { splitProps, withProps } from './step-props.ts';

/**
 * Steps as JSON text, and the code that they name by its hash. That is JSON text, too: code may have in it what no column
 * of text takes.
 */
export interface KeptCode {
  readonly steps: string;
  readonly codes: ReadonlyMap<string, string>;
}

/** The code that stands apart under this hash; undefined: it is not there. */
export type FindCode = (hash: string) => string | undefined;

const PARTS = ['code', 'bundle', 'sourceMap'] as const;
const MIN_CHARS = 256;

type KeptPart = string | { readonly sha256: string };
type KeptStep = Omit<Step, (typeof PARTS)[number]> & Readonly<Record<(typeof PARTS)[number], KeptPart>>;

export function deploymentCells({ id, steps }: Deployment, seal: Seal): KeptCode & { readonly props: string | null } {
  const { plain, props } = splitProps(steps);
  return { ...setApart(plain), props: props === null ? null : seal.seal(props, stepPropsPlace(id)) };
}

function setApart(steps: readonly Step[]): KeptCode {
  const codes = new Map<string, string>();
  const keep = (part: string): KeptPart => {
    if (part.length < MIN_CHARS) return part;
    const text = JSON.stringify(part);
    const sha256 = createHash('sha256').update(text).digest('base64url');
    codes.set(sha256, text);
    return { sha256 };
  };
  const kept = steps.map((step): KeptStep => {
    const parts = Object.fromEntries(PARTS.map((part) => [part, keep(step[part])]));
    return { ...step, ...(parts as Pick<KeptStep, (typeof PARTS)[number]>) };
  });
  return { steps: JSON.stringify(kept), codes };
}

export function toDeployment(row: Row, seal: Seal, find: FindCode): Deployment {
  const id = row.id as string;
  const part = (kept: KeptPart): string => {
    if (typeof kept === 'string') return kept;
    const code = find(kept.sha256);
    if (code === undefined) throw new Error(`code ${kept.sha256} of deployment ${id} is not in the store`);
    return code;
  };
  const steps = (JSON.parse(row.steps as string) as KeptStep[]).map((step): Step => {
    const { code, bundle, sourceMap } = step;
    return { ...step, code: part(code), bundle: part(bundle), sourceMap: part(sourceMap) };
  });
  const sealed = row.step_props as string | null;
  const props = sealed === null ? null : seal.open(sealed, stepPropsPlace(id));
  return {
    id,
    ownerId: row.owner_id as string,
    runnableId: row.runnable_id as string,
    steps: props === null ? steps : withProps(steps, props),
    createdAtMs: row.created_at_ms as number,
  };
}

/**
 * Of a deployment `d`: nobody needs it (see pruneDeployments). `settledMs`: a parameter. `goesOn`, `isOpen`: which runs
 * these are, as SQL from FROM on, of `d`, and of its workflow or source.
 */
export const isSpare = ({ settledMs, goesOn, isOpen }: Record<'settledMs' | 'goesOn' | 'isOpen', string>): string =>
  `(NOT EXISTS (SELECT 1 FROM ${goesOn})
    AND CASE WHEN EXISTS (SELECT 1 FROM runnables AS r WHERE r.id = d.runnable_id)
      THEN (SELECT count(*) FROM (SELECT 1 FROM deployments AS n WHERE n.runnable_id = d.runnable_id AND n.id > d.id
          ORDER BY n.runnable_id, n.id LIMIT ${LIMITS.deploymentsKept}) AS newer) = ${LIMITS.deploymentsKept}
        AND NOT EXISTS (SELECT 1 FROM runnables AS r
          WHERE r.id = d.runnable_id AND (r.deployment_id = d.id OR r.updated_at_ms > ${settledMs}))
        AND NOT EXISTS (SELECT 1 FROM source_changes AS c WHERE c.source_id = d.runnable_id)
      ELSE NOT EXISTS (SELECT 1 FROM ${isOpen}) END)`;
