// The text format of metrics, as monitors read it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry, Histogram as TheirHistogram } from 'prom-client';
import { Counter, Gauge, Histogram, ReadMetric } from '../../../../src/engine/metrics/kinds.ts';

test('a counter without labels is there before it counts', async () => {
  const counter = new Counter({ name: 'asked', help: 'How often' });
  assert.equal(await counter.text(), '# HELP asked How often\n# TYPE asked counter\nasked 0');
  counter.inc();
  counter.inc();
  assert.match(await counter.text(), /\nasked 2$/);
});

test('a counter counts each of its labels apart', async () => {
  const counter = new Counter({ name: 'ended', help: 'Ends', labels: ['kind', 'outcome'] });
  assert.equal(await counter.text(), '# HELP ended Ends\n# TYPE ended counter');
  counter.inc({ kind: 'run', outcome: 'well' });
  counter.inc({ kind: 'run', outcome: 'ill' }, 3);
  counter.inc({ kind: 'run', outcome: 'well' }, 0);
  const lines = (await counter.text()).split('\n').slice(2);
  assert.deepEqual(lines, ['ended{kind="run",outcome="well"} 1', 'ended{kind="run",outcome="ill"} 3']);
});

test('what a label holds cannot end it', async () => {
  const counter = new Counter({ name: 'n', help: 'N', labels: ['code'] });
  counter.inc({ code: 'a"} 9\nother{x="\\' });
  assert.equal((await counter.text()).split('\n').at(-1), 'n{code="a\\"} 9\\nother{x=\\"\\\\"} 1');
});

test('a histogram is that of prom-client', async () => {
  const head = { name: 'took', help: 'Time' };
  const bounds = [0.1, 1, 10];
  const register = new Registry();
  const [ours, theirs] = [
    new Histogram({ ...head, bounds }),
    new TheirHistogram({ ...head, buckets: bounds, registers: [register] }),
  ];
  assert.equal(`${await ours.text()}\n`, await register.metrics());
  for (const value of [0, 0.1, 0.2, 1, 3, 10, 10.5, 1e9]) {
    ours.observe(value);
    theirs.observe(value);
  }
  assert.equal(`${await ours.text()}\n`, await register.metrics());
});

test('what is read is read each time', async () => {
  let n = 1;
  const one = new ReadMetric({ type: 'gauge', name: 'n', help: 'N', read: () => n });
  assert.match(await one.text(), /# TYPE n gauge\nn 1$/);
  n = Number.NaN;
  assert.match(await one.text(), /\nn NaN$/);
  const two = new ReadMetric({
    type: 'counter',
    name: 'n',
    help: 'N',
    label: 'of',
    read: async () => ({ a: 1, b: 2 }),
  });
  assert.match(await two.text(), /# TYPE n counter\nn\{of="a"\} 1\nn\{of="b"\} 2$/);
});

test('a gauge has what was set last', async () => {
  const gauge = new Gauge({ name: 'at', help: 'When' });
  assert.match(await gauge.text(), /\nat 0$/);
  gauge.set(1.5);
  gauge.set(Number.POSITIVE_INFINITY);
  assert.match(await gauge.text(), /\nat \+Inf$/);
});
