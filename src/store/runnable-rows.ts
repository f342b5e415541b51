// Rows of workflows, sources and their deployments to records and back. What is secret is sealed: what the code gets as its
// environment, and props. Flags are booleans, or 0 and 1.

import {
  DEFAULT_SETTINGS,
  type Dedupe,
  type Deployment,
  type Runnable,
  type Settings,
  type Source,
  type Step,
  type Workflow,
} from '../domain/resource.ts';
import type { Row } from './rows.ts';
import type { Seal } from './seal.ts';
import { additionalPropsPlace, runnableSettingsPlace, sourcePropsPlace, stepPropsPlace } from './sealed-columns.ts';
import { splitProps, withProps } from './step-props.ts';

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

export function toDeployment(row: Row, seal: Seal): Deployment {
  const steps = JSON.parse(row.steps as string) as Step[];
  const sealed = row.step_props as string | null;
  const props = sealed === null ? null : seal.open(sealed, stepPropsPlace(row.id as string));
  return {
    id: row.id as string,
    ownerId: row.owner_id as string,
    runnableId: row.runnable_id as string,
    steps: props === null ? steps : withProps(steps, props),
    createdAtMs: row.created_at_ms as number,
  };
}

/** As they are kept: the steps, and their props in a column of their own. */
export function stepCells({ id, steps }: Deployment, seal: Seal): { steps: string; props: string | null } {
  const { plain, props } = splitProps(steps);
  return { steps: JSON.stringify(plain), props: props === null ? null : seal.seal(props, stepPropsPlace(id)) };
}
