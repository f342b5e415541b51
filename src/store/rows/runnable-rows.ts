// Rows of workflows and sources to records and back. What is secret is sealed: what the code gets as its environment, and
// props. Flags are booleans, or 0 and 1.

import {
  DEFAULT_SETTINGS,
  type Dedupe,
  type Runnable,
  type Settings,
  type Source,
  type Workflow,
} from '../../domain/resource.ts';
import type { Seal } from '../seal/seal.ts';
import { additionalPropsPlace, runnableSettingsPlace, sourcePropsPlace } from '../seal/sealed-columns.ts';
import type { Row } from './rows.ts';

export type RunnableRow = Runnable & { createdAtMs: number; updatedAtMs: number } & Partial<
    Pick<Source, 'componentCode' | 'configuredProps' | 'additionalProps' | 'dedupe' | 'secretProps'>
  >;

export function toWorkflow(row: Row, seal: Seal): Workflow {
  const id = row.id as string;
  return {
    id,
    ownerId: row.owner_id as string,
    name: row.name as string,
    active: Boolean(row.active),
    deploymentId: row.deployment_id as string,
    settings: {
      ...DEFAULT_SETTINGS,
      ...(JSON.parse(seal.open(row.settings as string, runnableSettingsPlace(id))) as Partial<Settings>),
    },
    createdAtMs: row.created_at_ms as number,
    updatedAtMs: row.updated_at_ms as number,
  };
}

export function toSource(row: Row, seal: Seal): Source {
  const props = seal.open(row.configured_props as string, sourcePropsPlace(row.id as string));
  const additional = row.additional_props as string | null;
  return {
    ...toWorkflow(row, seal),
    componentCode: row.component_code as string,
    configuredProps: JSON.parse(props) as Record<string, unknown>,
    additionalProps:
      additional === null ? {} : JSON.parse(seal.open(additional, additionalPropsPlace(row.id as string))),
    dedupe: row.dedupe as Dedupe | null,
    secretProps: JSON.parse(row.secret_props as string) as string[],
  };
}

/** The columns that hold secrets, as they are kept. */
export function runnableCells(
  record: RunnableRow,
  seal: Seal,
): { settings: string; props: string | null; additional: string | null } {
  const { id, settings, configuredProps, additionalProps = {} } = record;
  const isAdded = Object.keys(additionalProps).length > 0;
  return {
    settings: seal.seal(JSON.stringify(settings), runnableSettingsPlace(id)),
    props: configuredProps === undefined ? null : seal.seal(JSON.stringify(configuredProps), sourcePropsPlace(id)),
    additional: isAdded ? seal.seal(JSON.stringify(additionalProps), additionalPropsPlace(id)) : null,
  };
}
