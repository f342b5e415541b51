// Tracing in a process of its own: what the packages of OpenTelemetry read from the environment, and when they are loaded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startOtlp } from '../../flows/tracing/otlp.ts';
import { createClient } from '../../support/client.ts';
import { API_KEY } from '../../support/errand.ts';
import { createErrandOn } from '../../support/flows.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { spawnErrand } from '../../support/process.ts';

test('resource, headers and encoding are those of the environment', async () => {
  await using folder = await createFolder();
  await using otlp = await startOtlp();
  await using errand = await spawnErrand({
    ...otlp.settings,
    ERRAND_DATA_DIR: folder.path,
    ERRAND_API_KEY: API_KEY,
    OTEL_SERVICE_NAME: 'orders',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,team=a%20b',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one',
  });
  const actions = createErrandOn(() => createClient(errand.url, API_KEY));
  await actions.send(await actions.workflow('export default () => 1;'), {});
  const [span] = await otlp.wait(3);
  assert.equal(span?.resource['service.name'], 'orders');
  assert.equal(span?.resource['deployment.environment.name'], 'test');
  assert.equal(span?.resource.team, 'a b');
  assert.equal(otlp.requests.received[0]?.headers['x-tenant'], 'one');
});

test('a stop sends what is queued, as protobuf by default', async () => {
  await using folder = await createFolder();
  await using otlp = await startOtlp();
  const { OTEL_EXPORTER_OTLP_ENDPOINT = '' } = otlp.settings;
  await using errand = await spawnErrand({
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
    ERRAND_DATA_DIR: folder.path,
    ERRAND_API_KEY: API_KEY,
  });
  const actions = createErrandOn(() => createClient(errand.url, API_KEY));
  const workflow = await actions.workflow('export default () => 1;');
  await actions.send(workflow, {});
  await actions.runs(workflow.id, 1);
  errand.child.kill('SIGTERM');
  assert.equal((await errand.exited).code, 0);
  const [got] = otlp.requests.received;
  assert.equal(got?.path, '/v1/traces');
  assert.equal(got?.headers['content-type'], 'application/x-protobuf');
  for (const word of ['accept HTTP', 'run test', 'step step']) assert.ok(got?.body.includes(word), word);
});
