// The dashboard and the alerts ask for metrics that the server has: a name that it lost would show nothing, and never fire.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Errand, startErrand } from '../support/errand.ts';
import { programOf } from '../support/programs.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wait.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROMTOOL = programOf('promtool');

let errand: Errand;
/** Each metric that the server has, without what a histogram appends. */
let known: ReadonlySet<string>;
before(async () => {
  errand = await startErrand();
  const { text } = await errand.client.request('GET', '/metrics');
  known = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name as string));
});
after(() => errand[Symbol.asyncDispose]());

/** A database in an example. */
const NO_METRICS = ['errand_restored'];

/** Returns the names of our metrics in a text, without the suffixes of histograms. */
function metricsIn(expressions: string): string[] {
  const names = expressions.matchAll(/(?<![.\w])(errand|process|nodejs)_\w+/g);
  return [...new Set([...names].map(([name]) => name.replace(/_(bucket|sum|count)$/, '')))];
}

/** Returns each label that an expression compares or groups by, with the metric before it. */
function labelsIn(expressions: string): [metric: string, label: string][] {
  return [...expressions.matchAll(/\b(errand_\w+)\{([^}]*)\}/g)].flatMap(([, metric, labels]) =>
    [...(labels as string).matchAll(/(\w+)\s*[=!]/g)].map(([, label]): [string, string] => [
      metric as string,
      label as string,
    ]),
  );
}

const OF_PROMETHEUS = ['job', 'instance'];

for (const [file, least] of [
  ['deploy/prometheus/alerts.yaml', 8],
  ['deploy/grafana/errand.json', 12],
  ['docs/operations.md', 5],
] as const) {
  test(`${file} names metrics that the server has`, async () => {
    const content = await readFile(join(ROOT, file), 'utf8');
    const metrics = metricsIn(content);
    assert.ok(metrics.length >= least, metrics.join());
    assert.deepEqual(
      metrics.filter((name) => !known.has(name) && !NO_METRICS.includes(name)),
      [],
    );
  });

  test(`${file} compares labels that the metrics have`, async () => {
    const content = (await readFile(join(ROOT, file), 'utf8')).replaceAll('\\"', '"');
    const source = await readFile(join(ROOT, 'src/engine/metrics/metrics.ts'), 'utf8');
    for (const [metric, label] of labelsIn(content)) {
      if (OF_PROMETHEUS.includes(label)) continue;
      const declared = new RegExp(`name: '${metric}',[^}]*?labels?: ([^\\n]*)`).exec(source)?.[1] ?? '';
      assert.ok(declared.includes(`'${label}'`), `${metric} has no label ${label}`);
    }
  });
}

test('each expression of the dashboard and of the alerts is one that Prometheus can read', {
  skip: PROMTOOL === undefined && 'promtool is not installed',
}, async () => {
  const check = (file: string): string =>
    execFileSync(PROMTOOL as string, ['check', 'rules', file], { encoding: 'utf8', stdio: 'pipe' });
  assert.match(check(join(ROOT, 'deploy/prometheus/alerts.yaml')), /SUCCESS: \d\d rules found/);
  const dashboard = JSON.parse(await readFile(join(ROOT, 'deploy/grafana/errand.json'), 'utf8'));
  const panels = dashboard.panels as { targets?: { expr: string }[] }[];
  const rules = panels.flatMap(({ targets }, panel) =>
    (targets ?? []).map(({ expr }, i) => ({
      record: `panel:${panel}:${i}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, 'x'),
    })),
  );
  const file = join(errand.dataDir, 'dashboard.json');
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  assert.match(check(file), new RegExp(`SUCCESS: ${rules.length} rules found`));
});

test('an alert sees the first error of a code, since its counter is there before', async () => {
  const alerts = await readFile(join(ROOT, 'deploy/prometheus/alerts.yaml'), 'utf8');
  const codes = [...alerts.matchAll(/errand_errors_total\{code=~?"([\w|]+)"/g)].flatMap(([, all]) => all?.split('|'));
  assert.ok(codes.includes('OutOfMemory') && codes.includes('WorkerLost'), codes.join());
  const { text } = await errand.client.request('GET', '/metrics');
  for (const code of codes) assert.match(text, new RegExp(`^errand_errors_total\\{code="${code}"\\} 0$`, 'm'));
});

test('an attempt counts as delivered when the receiver took it, and as answered when it refused', async () => {
  await using receiver = await startReceiver();
  receiver.answer((n) => (n === 0 ? 500 : 200));
  const workflow = await errand.workflow('export default () => { throw new Error("no") }');
  const webhook = await errand.client.post('/v1/webhooks', { url: receiver.url });
  await errand.subscribe(workflow.id, webhook.id, '$errors');
  await errand.send(workflow, { order: 1 });
  await receiver.wait(1);
  errand.forward(60_000);
  await receiver.wait(2);
  const attempts = await until('two attempts are counted', async () => {
    const { text } = await errand.client.request('GET', '/metrics');
    const lines = text.split('\n').filter((line) => /^errand_delivery_attempts_total.*webhook/.test(line));
    return lines.length === 2 && lines.sort();
  });
  assert.deepEqual(attempts, [
    'errand_delivery_attempts_total{kind="webhook",outcome="answered"} 1',
    'errand_delivery_attempts_total{kind="webhook",outcome="delivered"} 1',
  ]);
});
