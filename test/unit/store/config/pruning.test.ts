// Deployments that are not needed any more are deleted with their code in one transaction for each owner, which has the
// configuration of that owner locked: none of them is activated meanwhile, and no code is left that none has.

import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigCore, ConfigVerb, Writing } from '../../../../src/store/config/config-database.ts';
import { deploymentVerbs } from '../../../../src/store/config/deployments.ts';
import { raw, type Sql } from '../../../../src/store/config/sql.ts';

const found = (ownerId: string, n: number, isSpare = true) => ({
  runnable_id: `p_${n}`,
  id: `d_${n}`,
  owner_id: ownerId,
  is_spare: isSpare,
});

/** From which table a statement deletes, and the ids that it names. */
function deletionOf({ texts, parts }: Sql): string {
  const table = /DELETE FROM (\w+)/.exec(texts.join(''))?.[1];
  const ids = parts.flatMap((part) =>
    part !== null && typeof part === 'object' && 'items' in part ? part.items.map(String) : [],
  );
  return [table, ...ids].join(' ');
}

/** Answers each deletion with the rows that it names. */
function run<T>(verb: ConfigVerb<T>): { value: T; deletions: string[] } {
  const deletions: string[] = [];
  const steps = verb({} as Writing);
  let step = steps.next();
  while (!step.done) {
    const ask = step.value;
    const statements = ask.kind === 'send' ? [ask.statement] : ask.kind === 'rows' ? ask.statements : [];
    const answers = statements.map((statement) => {
      const [table, ...ids] = deletionOf(statement).split(' ');
      deletions.push([table, ...ids].join(' '));
      return ids.map((id) => ({ id, hash: `code-of-${id}` }));
    });
    step = steps.next(answers);
  }
  return { value: step.value, deletions };
}

test('spare deployments go in one transaction for each owner', async () => {
  const transactions: (readonly [ownerId: string, deletions: readonly string[]])[] = [];
  const database = {
    openRuns: { thatGoOn: raw('o'), ofRunnable: raw('o') },
    planned: async () => [found('u_a', 1), found('u_b', 2), found('u_a', 3), found('u_b', 4, false)],
    writeLocked: async <T>(ownerId: string, verb: ConfigVerb<T>): Promise<T> => {
      const { value, deletions } = run(verb);
      transactions.push([ownerId, deletions]);
      return value;
    },
  };
  const { pruneDeployments } = deploymentVerbs({ database } as unknown as ConfigCore);
  deepEqual(await pruneDeployments(0, null), { deleted: 3, next: null });
  deepEqual(transactions, [
    ['u_a', ['deployments d_1 d_3', 'deployment_codes d_1 d_3', 'codes code-of-d_1 code-of-d_3']],
    ['u_b', ['deployments d_2', 'deployment_codes d_2', 'codes code-of-d_2']],
  ]);
});
