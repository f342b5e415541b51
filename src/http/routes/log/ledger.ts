import { DELIVERY_STATES } from '../../../domain/delivery/delivery.ts';
import { RUN_STATES } from '../../../domain/run/run.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { dataOf, operation } from '../../openapi/operation.ts';
import { Type } from '../../schema/type.ts';
import { ledgerToWire } from '../../wire/log/ledger.ts';

const COUNT = Type.Integer({ examples: [0] });

function countsOf(states: readonly string[]) {
  return Type.Object(Object.fromEntries([...states, 'total'].map((name) => [name, COUNT])));
}

const LEDGER = Type.Object(
  {
    emissions: COUNT,
    runs: countsOf(RUN_STATES),
    deliveries: countsOf(DELIVERY_STATES),
    errors: Type.Object({ captured: COUNT }),
  },
  { title: 'Ledger' },
);

export function addLedgerRoutes(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'getLedger',
    tag: 'account',
    access: 'read',
    summary: 'Read the ledger',
    description: 'Counts of everything that was ever accepted, by state. They add up at any moment, after any crash.',
    answer: dataOf(LEDGER),
  });
  app.get('/v1/ledger', { schema }, async ({ caller }) => {
    return { data: ledgerToWire(await store.ledger(caller.ownerId)) };
  });
}
