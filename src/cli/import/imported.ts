// What an import has read of a project: workflows as they are created here.

export interface ImportedStep {
  readonly namespace: string;
  readonly code?: string;
  readonly component_path?: string;
  readonly configured_props?: Readonly<Record<string, unknown>>;
}

export type ImportedTrigger =
  | { readonly type: 'http'; readonly custom_response?: boolean }
  | {
      readonly type: 'schedule';
      readonly cron?: string;
      readonly interval_seconds?: number;
      readonly timezone?: string;
    };

export interface ImportedSettings {
  readonly timeout_ms?: number;
  readonly notify?: false;
}

/** A prop that is left out, since its value names what only exists there. */
export interface LeftProp {
  readonly namespace: string;
  readonly prop: string;
  readonly kind: 'account' | 'data_store' | 'other';
  /** Its id there. */
  readonly id: string;
}

export interface ImportedWorkflow {
  readonly folder: string;
  readonly name: string;
  readonly steps: readonly ImportedStep[];
  readonly left: readonly LeftProp[];
  readonly triggers: readonly ImportedTrigger[];
  readonly settings: ImportedSettings;
  /** False: it is switched off there. */
  readonly active: boolean;
  /** What is left to do by hand. */
  readonly notes: readonly string[];
  /** Why it cannot be imported; null: it can. */
  readonly fault: string | null;
}
