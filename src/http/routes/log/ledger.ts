import { DELIVERY_STATES } from '../../../domain/delivery/delivery.ts';
import { RUN_STATES } from '../../../domain/run/run.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { dataOf, operation } from '../../openapi/operation.ts';
import { Type } from '../../schema/type.ts';
import { ledgerToWire } from '../../wire/log/ledger.ts';

const count = (description: string) => Type.Integer({ description, examples: [0] });

function countsOf(what: string, states: readonly string[]) {
  const members = states.map((state) => [state, count(`How many ${what} are \`${state}\`.`)] as const);
  const total = count(`All ${what}: the sum of the others.`);
  return Type.Object({ ...Object.fromEntries(members), total }, { description: `The ${what}, by state.` });
}

const LEDGER = Type.Object(
  {
    emissions: count('How many events were accepted.'),
    runs: countsOf('runs', RUN_STATES),
    deliveries: countsOf('deliveries', DELIVERY_STATES),
    errors: Type.Object({ captured: count('How many errors there were.') }, { description: 'The errors.' }),
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
