// What the store throws when it cannot do as it is asked.

/**
 * Storage is out of reach or refuses to write (disk full, connection lost). Answered as 503 with Retry-After. Also thrown when
 * the result of a commit is unknown: the connection to the database broke during it, or its sync failed.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** True: it is unknown whether the write is committed. */
  readonly mayBeWritten: boolean = false;
  /** True: what was to be read is damaged, and will not come back by itself. */
  readonly isDamaged: boolean = false;
}

/** Thrown for what cannot be read, since the store is damaged. */
export class StoreDamaged extends StoreUnavailable {
  override readonly isDamaged = true;
}
