// Writes of the configuration go through the same batch as the log's, so that their order is the order of the answers,
// and make routing read anew.

import type { Core } from '../core.ts';
import type { Transaction } from '../log/transaction.ts';

export function configWrite<T>(core: Core, verb: (tx: Transaction) => T): Promise<T> {
  return core.batch.write((tx) => {
    core.routes.forget();
    tx.onRollback(() => core.routes.forget());
    const value = verb(tx);
    core.routes.forget();
    return value;
  });
}
