// Sessions of a real database, lent for a transaction at a time as a pooler does, and kept.

import { equal, match, rejects } from 'node:assert/strict';
import { it } from 'node:test';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { refuseSharedSessions } from '../../../src/store/postgres/connection/pooler.ts';
import { TransactionConnection } from '../../../src/store/postgres/connection/transaction-connection.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabase } from '../../support/postgres/shared.ts';

type Transact = TransactionConnection['transact'];

interface Sessions extends AsyncDisposable {
  readonly url: string;
  readonly all: readonly TransactionConnection[];
}

async function open(count: number): Promise<Sessions> {
  const { url, drop } = await newDatabase();
  const all = Array.from({ length: count }, () => new TransactionConnection({ url, name: 'errand test' }));
  return {
    url,
    all,
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((each) => each.close()));
      await drop();
    },
  };
}

/** Lends the session that was given back last, or, taking turns, first. */
function pooled(sessions: readonly TransactionConnection[], isTakingTurns: boolean): { transact: Transact } {
  const free = [...sessions];
  return {
    transact: async (work) => {
      const session = free.pop();
      if (!session) throw new Error('no session is free');
      try {
        return await session.transact(work);
      } finally {
        if (isTakingTurns) free.unshift(session);
        else free.push(session);
      }
    },
  };
}

for (const [way, isTakingTurns] of [
  ['that was given back last', false],
  ['whose turn it is', true],
] as const) {
  it(`sessions that are lent for one transaction are refused: the one ${way}`, async () => {
    await using sessions = await open(3);
    const pooler = pooled(sessions.all, isTakingTurns);
    await rejects(refuseSharedSessions(pooler, pooler), (error: Error) => {
      match(error.message, /pool_mode = session/);
      return error instanceof StoreUnavailable;
    });
  });
}

it('sessions of their own are taken, also when one was ended by an administrator', async () => {
  await using sessions = await open(2);
  const [one, other] = sessions.all as [TransactionConnection, TransactionConnection];
  await refuseSharedSessions(one, other);
  let ended = 0;
  const broken: { transact: Transact } = {
    transact: async (work) => {
      const result = await one.transact(work);
      if (ended++ === 0) await queryOn(sessions.url, `SELECT pg_terminate_backend(${result}, 5000)`);
      return result;
    },
  };
  await refuseSharedSessions(broken, other);
  equal(ended, 4, 'the second try has found the same session twice');
});
