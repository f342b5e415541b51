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
