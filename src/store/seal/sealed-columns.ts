// The columns that hold secrets. A sealed text is bound to its place: in another row or column it does not open.

export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly place: (id: string) => string;
}

export const webhookSecretsPlace = (id: string): string => `webhook secrets ${id}`;
export const webhookSettingsPlace = (id: string): string => `webhook settings ${id}`;
export const runnableSettingsPlace = (id: string): string => `settings ${id}`;
export const sourcePropsPlace = (id: string): string => `source props ${id}`;
export const additionalPropsPlace = (id: string): string => `additional props ${id}`;
export const stepPropsPlace = (id: string): string => `step props ${id}`;
export const accountFieldsPlace = (id: string): string => `account fields ${id}`;
export const channelConfigPlace = (id: string): string => `channel config ${id}`;

export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'webhooks', column: 'secrets', place: webhookSecretsPlace },
  { table: 'webhooks', column: 'settings', place: webhookSettingsPlace },
  // The environment of its code.
  { table: 'runnables', column: 'settings', place: runnableSettingsPlace },
  { table: 'runnables', column: 'configured_props', place: sourcePropsPlace },
  { table: 'runnables', column: 'additional_props', place: additionalPropsPlace },
  { table: 'deployments', column: 'step_props', place: stepPropsPlace },
  { table: 'accounts', column: 'fields', place: accountFieldsPlace },
  { table: 'channels', column: 'config', place: channelConfigPlace },
];

/** Rows that one step reads, when all are read. */
export const ROWS_PER_STEP = 200;
