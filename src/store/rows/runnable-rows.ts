// Rows of workflows and sources to records and back. Settings, which have the environment of the code, and props are sealed.

import {
  type ConfiguredSource,
  DEFAULT_SETTINGS,
  type Dedupe,
  type Runnable,
  type Settings,
  type Source,
  type Workflow,
} from '../../domain/resource.ts';
import type { Seal } from '../seal/seal.ts';
import { additionalPropsPlace, runnableSettingsPlace, sourcePropsPlace } from '../seal/sealed-columns.ts';
import { flag, json, jsonOrNull, number, text, textOrNull } from './cells.ts';
import type { Row } from './rows.ts';

export type RunnableRow = Runnable & { createdAtMs: number; updatedAtMs: number } & Partial<
    Pick<Source, 'componentCode' | 'configuredProps' | 'additionalProps' | 'dedupe' | 'secretProps'>
  >;

export function toWorkflow(row: Row, seal: Seal): Workflow {
  const id = text(row, 'id');
  return {
    id,
    ownerId: text(row, 'owner_id'),
    name: text(row, 'name'),
    active: flag(row, 'active'),
    deploymentId: text(row, 'deployment_id'),
    settings: toSettings(row, seal),
    createdAtMs: number(row, 'created_at_ms'),
    updatedAtMs: number(row, 'updated_at_ms'),
  };
}

export function toSettings(row: Row, seal: Seal): Settings {
  const opened = seal.open(text(row, 'settings'), runnableSettingsPlace(text(row, 'id')));
  return { ...DEFAULT_SETTINGS, ...(JSON.parse(opened) as Partial<Settings>) };
}

/** Returns a source. `row`: with `code`, the JSON text that its `component_code` or `component_code_hash` stands for. */
export function toSource(row: Row, seal: Seal): Source {
  const componentCode = jsonOrNull<string>(row, 'code');
  if (componentCode === null) throw new Error(`the code of source ${text(row, 'id')} is not in the store`);
  return { ...toConfiguredSource(row, seal), componentCode };
}

export function toConfiguredSource(row: Row, seal: Seal): ConfiguredSource {
  const props = seal.open(text(row, 'configured_props'), sourcePropsPlace(text(row, 'id')));
  const additional = textOrNull(row, 'additional_props');
  return {
    ...toWorkflow(row, seal),
    configuredProps: JSON.parse(props) as Record<string, unknown>,
    additionalProps:
      additional === null ? {} : JSON.parse(seal.open(additional, additionalPropsPlace(text(row, 'id')))),
    dedupe: textOrNull<Dedupe>(row, 'dedupe'),
    secretProps: json<string[]>(row, 'secret_props'),
  };
}

/** Returns the sealed columns. */
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
