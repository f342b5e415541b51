// The settings of a workflow in a file (workflow.ts): types alone, so that users' bundles have nothing of them.

/** Members that are left out, or null, have their defaults. */
export interface WorkflowSettings {
  readonly timeout_ms?: number | null;
  readonly memory_mb?: number | null;
  readonly concurrency?: number | null;
  readonly queue_limit?: number | null;
  /** At most `limit` runs begin within any `interval_ms`. */
  readonly throttle?: { readonly limit: number; readonly interval_ms: number } | null;
  /** A failed run is tried again from the step that failed. */
  readonly retry?: {
    /** In all, the first one included. */
    readonly attempts: number;
    /** Before the second attempt; doubled for each later one. 1,000 when left out. */
    readonly base_ms?: number;
    readonly max_ms?: number;
    readonly also?: readonly ('Timeout' | 'OutOfMemory')[];
    readonly report_first?: boolean;
  } | null;
  readonly notify?: boolean | null;
  /** `fallback`: the global error workflow gets an error only when no subscriber to it has succeeded. */
  readonly global_errors?: 'always' | 'fallback' | null;
  /** Errors that match all patterns of a rule are one group; `*` in `message` stands for any characters. */
  readonly grouping?:
    | readonly {
        readonly group: string;
        readonly code?: string;
        readonly message?: string;
        readonly step?: string;
      }[]
    | null;
  /** What is an error although no run fails; null: nothing. */
  readonly watch?: {
    readonly silent_after_ms?: number | null;
    readonly succeeded_within_ms?: number | null;
    readonly error_ratio?: { readonly over: number; readonly of_at_least: number; readonly window_ms: number } | null;
  } | null;
  /** Channels that are notified of its errors; left out or null: those of its owner. */
  readonly channels?: readonly string[] | null;
  /** Errors are kept as long as either says so, or the server's own retention. */
  readonly error_retention?: { readonly days?: number | null; readonly newest?: number | null } | null;
  /** Left out: values set over the API stay, so that secrets need not be in the file. */
  readonly env?: Readonly<Record<string, string>> | null;
}
