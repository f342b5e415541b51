// What one owner may use. Null: no quota.

export interface Quotas {
  /** Processes of user code at each node, idle ones included. More work waits. */
  readonly processes: number | null;
  /** CPU of user code's processes at each node: seconds in a minute; 60 is one core. Beyond it no run begins. */
  readonly cpuSecondsPerMinute: number | null;
  /** Over HTTP, at each node: API calls and events together. More requests are refused. */
  readonly requestsPerSecond: number | null;
  /** Bytes stored. Beyond it, requests that store something are refused. */
  readonly storedBytes: number | null;
}

export const NO_QUOTAS: Quotas = {
  processes: null,
  cpuSecondsPerMinute: null,
  requestsPerSecond: null,
  storedBytes: null,
};

/** What an owner uses; everything except stored bytes at one node. */
export interface QuotaUse {
  /** Idle ones included. */
  readonly processes: number;
  /** Of the last minute. */
  readonly cpuSecondsPerMinute: number;
  /** Of the last second; null: not counted, since there is no quota. */
  readonly requestsPerSecond: number | null;
  /** Null: not measured yet. */
  readonly storedBytes: number | null;
  readonly storedBytesAtMs: number | null;
}
