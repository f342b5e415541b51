// What one owner may use. Null: as much as there is.

export interface Quotas {
  /** Of user code, at each node; idle ones too. What is beyond waits. */
  readonly processes: number | null;
  /** Of processes of user code, at each node: seconds in a minute; 60 is one core. Beyond it no run begins. */
  readonly cpuSecondsPerMinute: number | null;
  /** Over HTTP, at each node: calls of the interface and events together. What is beyond is refused. */
  readonly requestsPerSecond: number | null;
  /** Beyond it, nothing is accepted that would be stored. */
  readonly storedBytes: number | null;
}

export const NO_QUOTAS: Quotas = {
  processes: null,
  cpuSecondsPerMinute: null,
  requestsPerSecond: null,
  storedBytes: null,
};

/** What an owner uses; all but the stored bytes at one node. */
export interface QuotaUse {
  /** Idle ones too. */
  readonly processes: number;
  /** Of the last minute. */
  readonly cpuSecondsPerMinute: number;
  /** Of the last second; null: they are not counted, for there is no quota. */
  readonly requestsPerSecond: number | null;
  /** Null: not measured yet. */
  readonly storedBytes: number | null;
  readonly storedBytesAtMs: number | null;
}
