// One trace over several processes: one accepts, another one runs and delivers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { named, startOtlp } from '../flows/tracing/otlp.ts';
import { startReceiver } from '../support/receiver.ts';
import { EMIT_BODY } from '../support/webhooks.ts';
import { startNodes } from './nodes/nodes.ts';

test('what another process runs is in the trace of the one that accepted', async () => {
  await using otlp = await startOtlp();
  await using receiver = await startReceiver();
  const settings = { ...otlp.settings, OTEL_TRACES_SAMPLER: 'traceidratio' };
  await using nodes = await startNodes(
    { ...settings, ERRAND_ROLES: 'api' },
    { ...settings, ERRAND_ROLES: 'run,deliver' },
  );
  const [api] = nodes.all;
  const workflow = await api.workflow(EMIT_BODY);
  const webhook = await api.client.post('/v1/webhooks', { url: receiver.url });
  await api.subscribe(workflow.id, webhook.id);
  await api.send(workflow, { n: 1 });
  const [got] = await receiver.wait(1);
  const spans = await otlp.wait(5);
  const of = (name: string) => named(spans, name);
  const ids = (...names: string[]) => names.map((name) => of(name).spanId);
  const parents = (...names: string[]) => names.map((name) => of(name).parentSpanId);
  assert.deepEqual(parents('accept HTTP', 'run test', 'step step', 'deliver webhook', 'POST'), [
    '',
    ...ids('accept HTTP', 'run test', 'run test', 'deliver webhook'),
  ]);
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1);
  assert.equal(got?.headers.traceparent, `00-${of('POST').traceId}-${of('POST').spanId}-01`);
});
