// The documents say what the code does: their examples run, their tables are the code's own.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { DAY_MS, HOUR_MS, KIB, LIMITS, MINUTE_MS, SECOND_MS } from '../../src/domain/limits.ts';
import { PLATFORM_CODES } from '../../src/domain/refusal.ts';
import { DEFAULT_SETTINGS } from '../../src/domain/resource.ts';
import { readConfig, SETTINGS } from '../../src/server/config.ts';
import { TRACING_SETTINGS } from '../../src/server/settings/tracing.ts';
import { headingsOf, linksOf, tableOf } from './markdown.ts';
import { ROOT, readDocument, typeAll } from './reader.ts';

const TYPED = [
  'concepts',
  'recipes',
  'migrating',
  'workflows',
  'waiting',
  'code-first',
  'error-handling',
  'failed-orders',
  'watches',
  'reporting',
  'sources',
  'components',
  'streams',
  'channels',
  'client',
  'cli',
  'accounts',
  'data-stores',
  'webhooks',
  'operations',
  'isolation',
  'scaling',
].map((name) => `docs/${name}.md`);

async function allDocuments(): Promise<string[]> {
  const inRoot = (await readdir(ROOT)).filter((name) => name.endsWith('.md'));
  return [...inRoot, ...TYPED];
}

/** Variables of our own that are no settings: none may look like one. */
const SETTING_NAME = /\bERRAND_[A-Z_]+\b/g;

for (const path of TYPED) test(`what ${path} says to type works`, () => typeAll(path));

test('links in the documents lead somewhere', async () => {
  const broken: string[] = [];
  for (const path of await allDocuments()) {
    for (const { path: target, heading } of linksOf(await readDocument(path))) {
      const file = target === '' ? path : join(dirname(path), target);
      const isThere = existsSync(join(ROOT, file));
      const isHeading = heading === '' || (isThere && headingsOf(await readDocument(file)).has(heading));
      if (!isThere || !isHeading) broken.push(`${path}: ${target}#${heading}`);
    }
  }
  assert.deepEqual(broken, []);
});

test('the README’s settings are the settings', async () => {
  const documented = tableOf(await readDocument('README.md'), 'Setting');
  const real = SETTINGS.map(({ name, fallback, about }) => [
    `\`${name}\``,
    fallback === '' ? 'none' : `\`${fallback}\``,
    about,
  ]);
  assert.deepEqual(documented, real);
});

test('the documented settings of tracing are the settings', async () => {
  const documented = tableOf(await readDocument('docs/operations.md'), 'Variable');
  const real = TRACING_SETTINGS.map(({ name, fallback, about }) => [
    `\`${name}\``,
    fallback === '' ? 'none' : `\`${fallback}\``,
    about,
  ]);
  assert.deepEqual(documented, real);
});

test('documents name no setting that does not exist', async () => {
  const known = new Set(SETTINGS.map(({ name }) => name));
  for (const path of await allDocuments()) {
    const named = (await readDocument(path)).match(SETTING_NAME) ?? [];
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
      path,
    );
  }
});

test('documents name no command that does not exist', async () => {
  const known = new Set(Object.keys(manifest.scripts));
  for (const path of await allDocuments()) {
    const text = await readDocument(path);
    const named = [...text.matchAll(/npm (?:run (?:--silent )?([\w:]+)|(start|test)\b)/g)];
    for (const [command, run, short] of named) assert.ok(known.has(run ?? short ?? ''), `${path}: ${command}`);
  }
});

test('the README’s limits are the limits', async () => {
  const rows = tableOf(await readDocument('README.md'), 'What');
  const documented = new Map(rows.map(([what = '', limit = '']) => [what, limit]));
  const begins = (what: string, limit: string): void =>
    assert.ok(documented.get(what)?.startsWith(limit), `${what}: ${documented.get(what)}, not ${limit}`);
  const { timeoutMs, scheduleTimeoutMs, maxTimeoutMs } = LIMITS;
  begins('Errors listed per workflow', `the newest ${LIMITS.listedPerEmitterAndName}`);
  begins('Groups of errors per workflow', LIMITS.groupsPerEmitter.toLocaleString('en'));
  begins('Body of an HTTP event', `${readConfig({}).maxBodyBytes / KIB} KiB`);
  begins(
    'Time of a run',
    `${timeoutMs / SECOND_MS} s, ${scheduleTimeoutMs / SECOND_MS} s when scheduled; up to ${maxTimeoutMs / SECOND_MS} s`,
  );
  begins("Memory of a workflow's process", `${LIMITS.memoryMb} MB`);
  begins('Runs of one workflow at once', String(LIMITS.concurrency));
  const { apiBodyBytes, verbatimValues, bodyValues } = LIMITS;
  begins(
    'Body of a request to the API',
    `${apiBodyBytes / KIB / KIB} MiB; ${verbatimValues.toLocaleString('en')} JSON values, of which ${bodyValues.toLocaleString('en')} outside`,
  );
  begins('Runs that wait', LIMITS.queueLimit.toLocaleString('en'));
  begins('A wait of a run', `${LIMITS.maxWaitMs / DAY_MS} days`);
  begins('Return values and exports of a run', `${LIMITS.resultBytes / KIB / KIB} MiB`);
  begins('Steps of a workflow', `${LIMITS.stepsPerWorkflow}, of ${LIMITS.codeBytes / KIB / KIB} MiB`);
});

test('the workflow settings have the documented defaults', async () => {
  const {
    timeoutMs: _,
    notify,
    env,
    memoryMb,
    concurrency,
    queueLimit,
    throttle,
    retry,
    grouping,
    watch,
    globalErrors,
    channels,
    errorRetention,
  } = DEFAULT_SETTINGS;
  const real = {
    timeout_ms: `${LIMITS.timeoutMs}; ${LIMITS.scheduleTimeoutMs} when scheduled`,
    memory_mb: String(memoryMb),
    concurrency: String(concurrency),
    queue_limit: String(queueLimit),
    throttle: String(throttle),
    retry: String(retry),
    notify: String(notify),
    grouping: JSON.stringify(grouping),
    watch: String(watch),
    global_errors: `\`${globalErrors}\``,
    channels: String(channels),
    error_retention: String(errorRetention),
    env: JSON.stringify(env),
  };
  const rows = tableOf(await readDocument('docs/workflows.md'), 'Setting');
  const documented = Object.fromEntries(rows.map(([name = '', value]) => [name.replaceAll('`', ''), value]));
  assert.deepEqual(documented, real);
});

test('the documented error codes are the platform’s', async () => {
  const rows = tableOf(await readDocument('docs/workflows.md'), 'Code');
  assert.deepEqual(
    rows.map(([code]) => code),
    PLATFORM_CODES.map((code) => `\`${code}\``),
  );
});

test('the documented schedule of deliveries is the real one', async () => {
  const text = (await readDocument('docs/webhooks.md')).replaceAll('\n', ' ');
  const delays = LIMITS.retryDelaysMs.map(spelled);
  const schedule = `${delays.slice(0, -1).join(', ')} and ${delays.at(-1)}, each give or take ${LIMITS.retryJitter * 100} %`;
  assert.ok(text.includes(schedule), schedule);
  assert.ok(text.includes(`${delays.length + 1} attempts`));
});

function spelled(ms: number): string {
  if (ms >= HOUR_MS) return `${ms / HOUR_MS} h`;
  return ms >= MINUTE_MS ? `${ms / MINUTE_MS} min` : `${ms / SECOND_MS} s`;
}
