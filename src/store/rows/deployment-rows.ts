// Rows of deployments to records and back. Their props are sealed. Long code is stored apart and once, by its hash: 5,000
// sources of one component share 200 KB of it. Short code stays in the step, where it takes less than its hash would.

import { createHash } from 'node:crypto';
import type { Deployment, Step } from '../../domain/resource.ts';
import type { Seal } from '../seal/seal.ts';
import { stepPropsPlace } from '../seal/sealed-columns.ts';
import { json, jsonOrNull, number, text, textOrNull } from './cells.ts';
import type { Row } from './rows.ts';
import { splitProps, withProps } from './step-props.ts';

/**
 * Steps as JSON text, and the code that they name by its hash. The code is JSON text, too: it may have characters that no
 * column of text takes.
 */
export interface KeptCode {
  readonly steps: string;
  readonly codes: ReadonlyMap<string, string>;
}

const PARTS = ['code', 'bundle', 'sourceMap'] as const;
const MIN_CHARS = 256;

type KeptPart = string | { readonly sha256: string };
type KeptStep = Omit<Step, (typeof PARTS)[number]> & Readonly<Record<(typeof PARTS)[number], KeptPart>>;

export function deploymentCells({ id, steps }: Deployment, seal: Seal): KeptCode & { readonly props: string | null } {
  const { plain, props } = splitProps(steps);
  return { ...setApart(plain), props: props === null ? null : seal.seal(props, stepPropsPlace(id)) };
}

/** Code in a row that is no deployment's: its JSON text, or the hash by which a deployment of its owner names it. */
export interface NamedCode {
  readonly code: string | null;
  readonly hash: string | null;
}

export function namedCode(part: string): NamedCode {
  const text = JSON.stringify(part);
  return part.length < MIN_CHARS ? { code: text, hash: null } : { code: null, hash: hashOf(text) };
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

function setApart(steps: readonly Step[]): KeptCode {
  const codes = new Map<string, string>();
  const keep = (part: string): KeptPart => {
    if (part.length < MIN_CHARS) return part;
    const text = JSON.stringify(part);
    const sha256 = hashOf(text);
    codes.set(sha256, text);
    return { sha256 };
  };
  const kept = steps.map((step): KeptStep => {
    const parts = Object.fromEntries(PARTS.map((part) => [part, keep(step[part])]));
    return { ...step, ...(parts as Pick<KeptStep, (typeof PARTS)[number]>) };
  });
  return { steps: JSON.stringify(kept), codes };
}

/** Reads a row. `codes`: the code that it names, as the text of a JSON object by hash; null: it names none. */
export function toDeployment(row: Row, seal: Seal): Deployment {
  const id = text(row, 'id');
  const codes = new Map(Object.entries(jsonOrNull<Record<string, string>>(row, 'codes') ?? {}));
  const part = (kept: KeptPart): string => {
    if (typeof kept === 'string') return kept;
    const code = codes.get(kept.sha256);
    if (code === undefined) throw new Error(`code ${kept.sha256} of deployment ${id} is not in the store`);
    return code;
  };
  const steps = json<KeptStep[]>(row, 'steps').map((step): Step => {
    const { code, bundle, sourceMap } = step;
    return { ...step, code: part(code), bundle: part(bundle), sourceMap: part(sourceMap) };
  });
  const sealed = textOrNull(row, 'step_props');
  const props = sealed === null ? null : seal.open(sealed, stepPropsPlace(id));
  return {
    id,
    ownerId: text(row, 'owner_id'),
    runnableId: text(row, 'runnable_id'),
    steps: props === null ? steps : withProps(steps, props),
    createdAtMs: number(row, 'created_at_ms'),
  };
}
