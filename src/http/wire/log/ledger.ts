// The ledger, with the sum of each of its parts.

import type { Ledger } from '../../../store/contract/records.ts';

export function ledgerToWire({ emissions, runs, deliveries, errors }: Ledger) {
  return { emissions, runs: withTotal(runs), deliveries: withTotal(deliveries), errors: { captured: errors } };
}

function withTotal(counts: Readonly<Record<string, number>>): Record<string, number> {
  return { ...counts, total: Object.values(counts).reduce((sum, count) => sum + count, 0) };
}
