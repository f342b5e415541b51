// The audit record of a report that does not come by a route: as those of `POST /v1/errors`, it is written when the report is
// refused, or before it makes the workflow of a service.

import type { AuditRecord } from '../../domain/audit.ts';
import type { AuditLog } from '../access/audit-log.ts';

const FIRST_REFUSAL = 400;

export class AuditedReport {
  readonly #log: AuditLog;
  readonly #record: AuditRecord;
  #begun: Promise<void> | null = null;

  constructor(log: AuditLog, record: AuditRecord) {
    this.#log = log;
    this.#record = record;
  }

  /** Resolves when the record is on disk, without an answer yet. */
  begin(): Promise<void> {
    this.#begun ??= this.#log.put([this.#record]);
    return this.#begun;
  }

  /** Records the status of the answer. */
  end(status: number): void {
    const written = this.#begun !== null;
    if (status >= FIRST_REFUSAL || written) this.#log.ended([{ ...this.#record, status }], { written });
  }
}
