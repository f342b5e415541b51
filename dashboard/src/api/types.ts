// What the dashboard reads of the server's answers (docs/openapi.json has all of it).

export interface Page<T> {
  readonly page_info: {
    readonly total_count: number;
    readonly count: number;
    readonly start_cursor: string | null;
    readonly end_cursor: string | null;
    readonly next_cursor?: string | null;
  };
  readonly data: readonly T[];
}

export interface Owner {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly global_error_workflow_id: string | null;
}

export interface ApiKey {
  readonly id: string;
  readonly label: string;
  readonly scopes: readonly string[];
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

export interface Session {
  readonly owner: Owner;
  readonly key: ApiKey;
  readonly ends_at_ms: number | null;
  readonly version: string;
}

export type GroupState = 'open' | 'resolved' | 'muted';

export interface ErrorGroup {
  readonly id: string;
  readonly emitter_id: string;
  readonly state: GroupState;
  readonly why: string;
  readonly fingerprint: {
    readonly namespace: string;
    readonly code: string;
    readonly template: string;
    readonly frame: string;
  };
  readonly rule: string | null;
  readonly count: number;
  readonly first_seen_ms: number;
  readonly last_seen_ms: number;
  readonly first_error_id: string;
  readonly last_error_id: string;
  readonly first_deployment_id: string | null;
  readonly last_deployment_id: string | null;
  readonly muted_until_ms: number | null;
  readonly muted_errors_left: number | null;
  readonly reopened: { readonly from: string; readonly by: string; readonly at_ms: number } | null;
  readonly note: string | null;
  readonly assignee: string | null;
  /** With `expand=hours`. */
  readonly hours?: readonly GroupHour[];
}

export interface Receipt {
  readonly kind: 'run' | 'delivery' | 'mail' | 'withheld';
  readonly id: string | null;
  readonly listener_id: string | null;
  readonly subscription_id: string | null;
  readonly via: string;
  readonly state: string;
  readonly reason?: string | null;
}

export interface Fault {
  readonly code: string;
  readonly msg: string;
  readonly cellId: string;
  readonly ts: string;
  readonly stack: string;
  readonly namespace: string;
}

export interface ErrorSample {
  readonly id: string;
  readonly indexed_at_ms: number;
  readonly deployment_id: string | null;
  readonly error: Fault;
  readonly receipts: readonly Receipt[];
}

export interface GroupHour {
  readonly from_ms: number;
  readonly count: number;
}

export interface ErrorGroupWhole extends ErrorGroup {
  readonly hours: readonly GroupHour[];
  readonly deployments: readonly { id: string; count: number; first_seen_ms: number; last_seen_ms: number }[];
  readonly samples: readonly ErrorSample[];
}

export interface ErrorRecord {
  readonly id: string;
  readonly indexed_at_ms: number;
  readonly metadata: { readonly emitter_id: string; readonly emit_id: string; readonly group_id: string | null };
  readonly event?: {
    readonly original_event: unknown;
    readonly original_context: Readonly<Record<string, unknown>>;
    readonly error: Fault;
  };
  readonly receipts?: readonly Receipt[];
  readonly told?: string;
  readonly replays?: readonly {
    kind: string;
    run_id: string;
    state: string;
    edited: boolean;
    operation_id: string | null;
  }[];
}

export interface Workflow {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly deployment_id: string;
  readonly editor_url: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly steps?: readonly WorkflowStep[];
  readonly triggers?: readonly WorkflowTrigger[];
}

export interface Fixture {
  readonly original_event_text?: string;
  readonly original_event_base64?: string;
}

export interface WorkflowStep {
  readonly id: string;
  readonly namespace: string;
  readonly code?: string;
  readonly component_path?: string;
}

export interface WorkflowTrigger {
  readonly id: string;
  readonly type: string;
  readonly endpoint_url?: string;
  readonly cron?: string;
  readonly interval_seconds?: number;
  readonly timezone?: string;
  readonly source_id?: string;
  readonly emitter_id?: string;
  readonly event_name?: string;
}
