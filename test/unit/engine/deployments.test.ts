import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment } from '../../../src/domain/resource.ts';
import { Deployments } from '../../../src/engine/resources/deployments.ts';

const deployment = (id: string, bundle: string): Deployment => ({
  id,
  ownerId: 'u_1',
  runnableId: `of ${id}`,
  createdAtMs: 0,
  steps: [{ id: `c_${id}`, namespace: 'source', code: 'code', bundle, sourceMap: 'map' }],
});
const runnable = (id: string) => ({ id: `of ${id}`, ownerId: 'u_1', deploymentId: id });

function deployments(all: readonly Deployment[], maxCodeChars?: number) {
  const read: string[] = [];
  const kept = new Deployments(
    {
      getDeployment: async (ownerId, id) => {
        read.push(id);
        const found = all.find((one) => one.id === id && one.ownerId === ownerId);
        return found && structuredClone(found);
      },
      deriveKey: () => Buffer.from('key'),
    },
    maxCodeChars,
  );
  return { kept, read };
}

test('each deployment is read once', async () => {
  const { kept, read } = deployments([deployment('a', 'one'), deployment('b', 'one'), deployment('c', 'two')]);
  for (const id of ['a', 'b', 'c', 'a', 'b', 'c']) {
    const { deployment: found, resumeKey } = await kept.get(runnable(id));
    assert.deepEqual([found.id, found.steps[0]?.id, found.runnableId], [id, `c_${id}`, `of ${id}`]);
    assert.match(resumeKey, /^[0-9a-f]{64}$/);
  }
  assert.deepEqual(read, ['a', 'b', 'c']);
  await assert.rejects(kept.get(runnable('d')), /not in the store/);
});

test('what takes too much is read again', async () => {
  const large = (letter: string): string => letter.repeat(1000);
  const same = ['a1', 'a2', 'a3', 'a4'].map((id) => deployment(id, large('a')));
  const { kept, read } = deployments([...same, deployment('b', large('b')), deployment('c', large('c'))], 2500);
  for (const id of ['a1', 'a2', 'a3', 'a4', 'b', 'a1', 'a2', 'a3', 'a4', 'b']) await kept.get(runnable(id));
  assert.deepEqual(read, ['a1', 'a2', 'a3', 'a4', 'b']);
  // The code of the four goes when the last of them does.
  await kept.get(runnable('c'));
  await kept.get(runnable('b'));
  await kept.get(runnable('c'));
  assert.deepEqual(read.slice(5), ['c']);
  await kept.get(runnable('a1'));
  assert.deepEqual(read.slice(6), ['a1']);
});
