// The manifest gives a pod only settings that are ours, and keeps those out that Kubernetes would add.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/server/config.ts';

const MANIFEST = join(import.meta.dirname, '../../deploy/kubernetes/errand.yaml');

interface PodSpec {
  readonly enableServiceLinks?: boolean;
  readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value: string }[] }[];
}

async function podSpec(): Promise<PodSpec> {
  const objects = parseAllDocuments(await readFile(MANIFEST, 'utf8')).map((document) => document.toJS());
  return objects.find(({ kind }) => kind === 'Deployment').spec.template.spec;
}

test('the settings of the pod are settings of the server', async () => {
  const [container] = (await podSpec()).containers;
  const config = readConfig(Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []));
  assert.equal(config.dataDir, '/data/errand');
});

test('Kubernetes adds no variables of the Service', async () => {
  assert.equal((await podSpec()).enableServiceLinks, false);
});
