// An error that happened, kept as a test: the order that could not be added up.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { type Fixture, runFixture } from 'errand/testing';
import workflow from './order.ts';

const FILE = new URL('order-error.json', import.meta.url);

test('an order that has no lines costs nothing', async () => {
  const fixture = JSON.parse(await readFile(FILE, 'utf8')) as Fixture;
  const run = await runFixture(workflow, fixture);
  assert.equal(run.error, null);
  assert.deepEqual(run.steps.total?.$return_value, { customer: 'Ada', total: 0 });
});
