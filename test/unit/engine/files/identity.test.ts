import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FileMark, withMark } from '../../../../src/domain/files/file-mark.ts';
import { isResourceId, PREFIX, resourceId } from '../../../../src/domain/ids.ts';
import type { Deployment } from '../../../../src/domain/resource.ts';
import {
  digestOf,
  markOf,
  mayBeFiles,
  nextDeploymentId,
  remarked,
  workflowIdOf,
} from '../../../../src/engine/files/identity.ts';

const T0_MS = 1_790_000_000_000;
const OWNER = resourceId(PREFIX.owner, T0_MS, Buffer.from('owner-one'));
const OTHER = resourceId(PREFIX.owner, T0_MS + 1, Buffer.from('owner-two'));
const MARK: FileMark = { key: 'sub/order.ts', state: 'deployed', project: null, digest: digestOf(['a', 'b']) };

function deployment(id: string, code = ''): Deployment {
  const step = { id: 'c_1', namespace: 'one', code, bundle: '', sourceMap: '' };
  return { id, ownerId: OWNER, runnableId: 'p_1', steps: [step], createdAtMs: T0_MS };
}

test('a workflow’s id is its owner’s and path’s', () => {
  const id = workflowIdOf(OWNER, 'order.ts');
  assert.ok(isResourceId(id, PREFIX.workflow), id);
  assert.equal(workflowIdOf(OWNER, 'order.ts'), id);
  assert.notEqual(workflowIdOf(OWNER, 'orders.ts'), id);
  assert.notEqual(workflowIdOf(OTHER, 'order.ts'), id);
  assert.deepEqual([mayBeFiles(id, OWNER), mayBeFiles(id, OTHER)], [true, false]);
});

test('workflows of files come before all others', () => {
  const made = resourceId(PREFIX.workflow, T0_MS + 1, new Uint8Array(9));
  for (let n = 0; n < 100; n++) assert.ok(workflowIdOf(OWNER, `${n}.ts`) < made);
});

test('a deployment’s id follows the newest one’s', () => {
  const first = deployment(resourceId(PREFIX.deployment, T0_MS, new Uint8Array(9).fill(61)));
  const second = nextDeploymentId(first, MARK);
  assert.ok(isResourceId(second, PREFIX.deployment), second);
  assert.ok(second > first.id);
  assert.equal(nextDeploymentId(first, MARK), second);
  assert.notEqual(nextDeploymentId(first, { ...MARK, state: 'removed' }), second);
  assert.notEqual(nextDeploymentId(first, { ...MARK, digest: digestOf(['a']) }), second);
  assert.ok(nextDeploymentId(deployment(second), MARK) > second);
});

test('a digest tells parts from one another', () => {
  assert.notEqual(digestOf(['ab', 'c']), digestOf(['a', 'bc']));
  assert.match(digestOf([]), /^[0-9a-f]{64}$/);
});

test('a mark is read as it was written', () => {
  for (const key of ['order.ts', 'a "quoted"/näme\n.ts', 'x deployed: y.ts']) {
    const mark = { ...MARK, key };
    const code = withMark(mark, 'export default 1\n');
    assert.deepEqual(markOf(deployment('d_1', code)), mark);
    const removed: FileMark = { ...mark, state: 'removed' };
    assert.equal(remarked(code, removed), withMark(removed, 'export default 1\n'));
  }
});

test('code from elsewhere has no mark', () => {
  for (const code of ['', 'export default 1', `\n${withMark(MARK, '')}`, '// "a.ts" deployed: a workflow file\n']) {
    assert.equal(markOf(deployment('d_1', code)), null);
  }
  assert.equal(markOf({ ...deployment('d_1'), steps: [] }), null);
});
