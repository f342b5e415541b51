// Writes the audit log's records. Records that arrive during a write go together into the next one, so that many requests
// cost few writes.
//
// Refused requests cost their caller nothing and would fill the disk. So per key and minute the first refusals have a record
// each, and one record counts all others: their records, where written before the handler ran, are deleted again.

import type { AuditRecord } from '../../domain/audit.ts';
import { LIMITS, MINUTE_MS, SECOND_MS } from '../../domain/limits.ts';
import type { Log } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';

/** In one transaction. */
const RECORDS_PER_WRITE = 500;
/** How often the record that counts refusals is written while its count grows. */
const COUNTED_MS = 5 * SECOND_MS;
/** Keys whose refusals are counted at a time; beyond that, the oldest count is written and starts again. */
const KEYS = 1000;

const FIRST_REFUSAL = 400;
const FIRST_FAILURE = 500;

interface Refusals {
  readonly sinceMs: number;
  recorded: number;
  /** The record that counts refusals. */
  counting: AuditRecord | null;
  writtenCount: number;
  writtenAtMs: number;
}

export interface AuditLogDeps {
  readonly store: Pick<Store, 'writeAudit'>;
  readonly log: Log;
}

export class AuditLog {
  readonly #deps: AuditLogDeps;
  readonly #waiting = new Map<string, AuditRecord>();
  readonly #dropped = new Set<string>();
  #next: PromiseWithResolvers<void> | undefined;
  #working: Promise<void> | undefined;
  readonly #refusals = new Map<string, Refusals>();

  constructor(deps: AuditLogDeps) {
    this.#deps = deps;
  }

  /** Resolves when the records are on disk. A waiting record with the same id is replaced. */
  put(records: readonly AuditRecord[]): Promise<void> {
    for (const record of records) this.#waiting.set(record.id, record);
    this.#next ??= Promise.withResolvers();
    const { promise } = this.#next;
    this.#working ??= this.#work();
    return promise;
  }

  /** Records, like `put`, what has happened already: a failed write is logged. */
  putLater(records: readonly AuditRecord[]): void {
    this.put(records).catch((error: unknown) => {
      const ids = records.map(({ id }) => id).join(' ');
      this.#deps.log.warn({ err: error, audit_id: ids }, 'audit.not_completed');
    });
  }

  /** Records an answered request; `written`: its records were put before. */
  ended(records: readonly AuditRecord[], { written }: { written: boolean }): void {
    const [record] = records;
    if (!record) return;
    const { status } = record;
    const isRefused = status !== null && status >= FIRST_REFUSAL && status < FIRST_FAILURE;
    if (!isRefused || this.#isRecorded(record)) {
      this.putLater(records);
      return;
    }
    const refusals = this.#refusalsOf(record);
    const { counting } = refusals;
    refusals.counting = counting === null ? record : { ...counting, count: counting.count + 1 };
    if (written) this.#drop(counting === null ? records.slice(1) : records);
    if (counting !== null && record.atMs - refusals.writtenAtMs < COUNTED_MS) return;
    this.#writeCount(refusals, record.atMs);
  }

  #isRecorded(record: AuditRecord): boolean {
    const refusals = this.#refusalsOf(record);
    return refusals.recorded++ < LIMITS.auditedRefusals;
  }

  #drop(records: readonly AuditRecord[]): void {
    for (const { id } of records) this.#dropped.add(id);
    this.putLater([]);
  }

  #refusalsOf({ keyId: id, atMs }: AuditRecord): Refusals {
    const keyId = id ?? '';
    const known = this.#refusals.get(keyId);
    if (known && atMs - known.sinceMs < MINUTE_MS) return known;
    if (known) this.#forget(keyId, known);
    const [oldest] = this.#refusals.size < KEYS ? [] : this.#refusals;
    if (oldest) this.#forget(...oldest);
    const begun = { sinceMs: atMs, recorded: 0, counting: null, writtenCount: 0, writtenAtMs: 0 };
    this.#refusals.set(keyId, begun);
    return begun;
  }

  #forget(keyId: string, refusals: Refusals): void {
    this.#refusals.delete(keyId);
    this.#writeCount(refusals, refusals.writtenAtMs);
  }

  #writeCount(refusals: Refusals, atMs: number): void {
    const { counting, writtenCount } = refusals;
    if (counting === null || counting.count === writtenCount) return;
    refusals.writtenCount = counting.count;
    refusals.writtenAtMs = atMs;
    this.putLater([counting]);
  }

  /** Waits until all records are written, or have failed. */
  async flush(): Promise<void> {
    for (const refusals of this.#refusals.values()) this.#writeCount(refusals, refusals.writtenAtMs);
    await this.#working;
  }

  async #work(): Promise<void> {
    while (this.#next) {
      const { resolve, reject } = this.#next;
      this.#next = undefined;
      const [records, dropped] = [[...this.#waiting.values()], [...this.#dropped]];
      this.#waiting.clear();
      this.#dropped.clear();
      try {
        // Deletions go with the first part: they wait for none of the records.
        for (let at = 0; at === 0 || at < records.length; at += RECORDS_PER_WRITE) {
          await this.#deps.store.writeAudit(records.slice(at, at + RECORDS_PER_WRITE), at === 0 ? dropped : []);
        }
        resolve();
      } catch (error) {
        reject(error);
      }
    }
    this.#working = undefined;
  }
}
