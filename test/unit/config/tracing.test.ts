// Which settings of OpenTelemetry are taken, and what they make.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, readConfig } from '../../../src/server/config.ts';

const ON = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

test('nothing is traced unless there is an endpoint', () => {
  const bad = { OTEL_TRACES_SAMPLER: 'nonsense', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  assert.equal(readConfig({}).tracing, null);
  assert.equal(readConfig(bad).tracing, null);
  assert.equal(readConfig({ ...ON, OTEL_EXPORTER_OTLP_ENDPOINT: '' }).tracing, null);
  assert.equal(readConfig({ ...ON, OTEL_SDK_DISABLED: 'TRUE' }).tracing, null);
  assert.equal(readConfig({ ...ON, OTEL_TRACES_EXPORTER: 'none' }).tracing, null);
});

test('an endpoint alone has defaults', () => {
  assert.deepEqual(readConfig(ON).tracing, {
    url: 'http://collector:4318/v1/traces',
    protocol: 'http/protobuf',
    sampler: 'always_on',
    ratio: 1,
    maxQueueSize: 2048,
    maxBatchSize: 512,
    delayMs: 5000,
  });
});

test('the endpoint of traces is taken as it is', () => {
  const url = 'https://user:pass@traces.example.com/otlp/x';
  assert.equal(readConfig({ ...ON, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url }).tracing?.url, url);
});

test('samplers are taken with and without their parent', () => {
  for (const name of ['always_on', 'always_off', 'traceidratio']) {
    for (const OTEL_TRACES_SAMPLER of [name, `parentbased_${name}`]) {
      assert.equal(readConfig({ ...ON, OTEL_TRACES_SAMPLER }).tracing?.sampler, name);
    }
  }
});

const WRONG: readonly [string, string][] = [
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'ftp://x'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.1'],
  ['OTEL_TRACES_SAMPLER_ARG', 'half'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '0'],
  ['OTEL_BSP_SCHEDULE_DELAY', '-1'],
];

for (const [name, value] of WRONG) {
  test(`${name}=${value} stops the start`, () => {
    assert.throws(
      () => readConfig({ ...ON, [name]: value }),
      (error: Error) => error instanceof ConfigError && error.message.startsWith(`${name}: `),
    );
  });
}

test('a refused endpoint is not shown, since it may have a password', () => {
  assert.throws(
    () => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://user:very-private@x' }),
    (error: Error) => !error.message.includes('very-private'),
  );
});
