// Several nodes that are given the same workflow files: each file is one workflow, and each change one deployment.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../support/client.ts';
import type { Errand } from '../../../support/errand.ts';
import { answering, createWorkflowFiles, deploymentsOf, named } from '../../../support/folders/workflow-files.ts';
import { until } from '../../../support/wait.ts';
import { startNodes } from '../nodes.ts';

const NAMES = ['A', 'B'];

const files = (version: number): Record<string, string> =>
  Object.fromEntries(NAMES.map((name) => [`${name}.ts`, answering(name, `${version}`)]));

async function all(errand: Errand): Promise<Json[]> {
  return Promise.all(NAMES.map(async (name) => await named(errand, name)));
}

/** A change is seen by all when the last node has looked at it, which shows in its log or not at all. */
async function seen(nodes: readonly Errand[], version: number): Promise<void> {
  for (const node of nodes) {
    await until('the change everywhere', async () => {
      const workflows = await all(node);
      return workflows.every(({ steps }) => steps[0].code.includes(`body: ${version} `));
    });
  }
}

test('nodes that start together make each workflow once', async () => {
  await using folder = await createWorkflowFiles(files(1));
  const env = { ERRAND_WORKFLOWS_DIR: folder.path };
  await using nodes = await startNodes(env, env, env);
  const [a] = nodes.all;
  for (const node of nodes.all) {
    const errors = node.logged.filter(({ level }) => level === 'error' || level === 'warn');
    assert.deepEqual(
      errors.filter(({ name }) => /file/.test(name)),
      [],
    );
  }
  const { data } = await a.client.get('/v1/workflows');
  assert.deepEqual(data.map(({ name }: Json) => name).sort(), [...NAMES, 'Global error workflow']);
  for (const workflow of await all(a)) {
    assert.equal((await deploymentsOf(a, workflow)).length, 1);
    assert.equal(workflow.triggers.length, 1);
  }
});

test('a change is one deployment, whoever sees it', async () => {
  await using folder = await createWorkflowFiles(files(1));
  const env = { ERRAND_WORKFLOWS_DIR: folder.path };
  await using nodes = await startNodes(env, env, env);
  const before = await all(nodes.all[0]);
  for (let version = 2; version <= 3; version++) {
    await folder.write(files(version));
    await seen(nodes.all, version);
  }
  // Each node looks at the folder once more before it stops, and all of them at a start.
  await Promise.all(nodes.all.map((node) => node.restart()));
  const [a] = nodes.all;
  for (const [i, workflow] of (await all(a)).entries()) {
    assert.equal(workflow.id, before[i].id);
    const listed = await deploymentsOf(a, workflow);
    assert.equal(listed.length, 3);
    assert.deepEqual([listed[0].id, listed[0].active], [workflow.deployment_id, true]);
  }
});

test('a file that is gone is switched off once', async () => {
  await using folder = await createWorkflowFiles(files(1));
  const env = { ERRAND_WORKFLOWS_DIR: folder.path };
  await using nodes = await startNodes(env, env);
  const [a, b] = nodes.all;
  await folder.remove('A.ts');
  await until('it is off', async () => (await named(b, 'A'))?.active === false);
  await folder.write({ 'A.ts': answering('A', '1') });
  await until('it is on', async () => (await named(a, 'A'))?.active === true);
  await Promise.all(nodes.all.map((node) => node.restart()));
  const workflow = await named(a, 'A');
  assert.equal(workflow.active, true);
  assert.equal((await deploymentsOf(a, workflow)).length, 3);
});
