// Facts that documents state are the code's: routes, commands, options, and bounds.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import openapi from '../../docs/openapi.json' with { type: 'json' };
import { commandLine, commandsIn } from '../../release/cli-docs.ts';
import { KIB, LIMITS, MINUTE_MS, SECOND_MS } from '../../src/domain/limits.ts';
import { BOUNDS } from '../../src/http/server/bounds.ts';
import { tableOf } from './markdown.ts';
import { ROOT, readDocument } from './reader.ts';

/** Returns each document by its path. */
async function documents(): Promise<Map<string, string>> {
  const inDocs = (await readdir(join(ROOT, 'docs')))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  const others = ['README.md', 'ARCHITECTURE.md', 'SECURITY.md', 'CONTRIBUTING.md', 'deploy/README.md'];
  const paths = [...inDocs, ...others, 'release/package-readme.md'];
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(ROOT, path), 'utf8')] as const)),
  );
}

/** Requests of the product that one moves from, which stand in the same words. */
const OF_OTHERS = ['/v1/workflows/{id}?org_id', '/api/v1/app/'];
const ROUTE = /\b(GET|POST|PUT|PATCH|DELETE) (\/(?:v1|e|h|r|api|sse)\/[^\s`'",;)|]*)/g;

test('documents name no route that does not exist', async () => {
  const known = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), parts: path.split('/') })),
  );
  const isKnown = (method: string, path: string): boolean => {
    const parts = path
      .replace(/[?#].*$/, '')
      .replace(/[.:]$/, '')
      .split('/');
    return known.some(
      (route) =>
        route.method === method &&
        route.parts.length === parts.length &&
        route.parts.every((part, at) => part.startsWith('{') || part === parts[at]),
    );
  };
  let seen = 0;
  for (const [path, text] of await documents()) {
    for (const [whole, method = '', address = ''] of text.matchAll(ROUTE)) {
      if (OF_OTHERS.some((other) => address.startsWith(other))) continue;
      seen += 1;
      assert.ok(isKnown(method, address), `${path}: ${whole}`);
    }
  }
  assert.ok(seen > 100, `${seen} routes`);
});

test('documents name no command or option that does not exist', async () => {
  const program = commandLine();
  const commands = commandsIn(program);
  const isBegun = (words: readonly string[]): boolean =>
    commands.some(({ words: known }) => `${known} `.startsWith(`${words.join(' ')} `));
  let seen = 0;
  for (const [path, text] of await documents()) {
    if (path === 'docs/cli.md') continue;
    const called = text.matchAll(/(?:`|^|npx |\$\()(?:node src\/errand\.ts|errand) ([a-z][a-z-]*)((?: [^`\n|)]*)?)/gm);
    for (const [whole, name = '', rest = ''] of called) {
      const group = program.commands.find((one) => one.name() === name);
      assert.ok(group, `${path}: ${whole}`);
      seen += 1;
      const next = /^ ([a-z][a-z-]*)/.exec(rest)?.[1];
      const words = group.commands.length > 0 && next !== undefined ? [name, next] : [name];
      assert.ok(isBegun(words), `${path}: ${whole}`);
      const command = commands.find((one) => one.words === words.join(' '))?.command;
      for (const [, option] of rest.matchAll(/ (--[a-z-]+)/g)) {
        if (command === undefined) continue;
        const known = command.options.some(({ long }) => long === option);
        assert.ok(known || ['--help', '--version'].includes(option ?? ''), `${path}: ${whole}: ${option}`);
      }
    }
  }
  assert.ok(seen > 60, `${seen} commands`);
});

const MIB = 1024 * KIB;
const [seconds, english] = [(ms: number) => `${ms / SECOND_MS} s`, (n: number) => n.toLocaleString('en')];

test('the documented bounds for callers are the bounds', async () => {
  const rows = tableOf(await readDocument('docs/operations.md'), 'What').map(([what = '', bound = '']) => [
    what,
    bound,
  ]);
  const documented = new Map(rows as [string, string][]);
  const { headersMs, requestMs, unreadAnswerMs } = BOUNDS;
  for (const [what, ...bounds] of [
    ['Connections, in all', english(LIMITS.connections)],
    ['Connections from one IPv4 address or one IPv6 /64', english(LIMITS.connectionsPerAddress)],
    ['Time for the headers, for the whole request', `${seconds(headersMs)}, ${seconds(requestMs)}`],
    ['Time in which a caller reads nothing of its answer', seconds(unreadAnswerMs)],
    [
      'Bodies that are still arriving',
      `${LIMITS.bodyMemoryBytes / MIB} MiB, ${LIMITS.ownerBodyMemoryBytes / MIB} MiB of one owner`,
    ],
    ['Requests sent ahead on one connection', english(LIMITS.requestsAhead)],
    ['Values in the body of an API request (events and the values of records apart)', english(LIMITS.bodyValues)],
    ['Values in the body of an API request in all', english(LIMITS.verbatimValues)],
    ['Fields of a form or query that becomes an event', english(LIMITS.formFields)],
  ] as const) {
    for (const bound of bounds)
      assert.ok(documented.get(what)?.includes(bound), `${what}: ${documented.get(what)}, not ${bound}`);
  }
});

test('figures of the documents are the limits', async () => {
  const { codeDescriptors, codeDescriptorsThroughServer, codeGroupThreads, bundlerMemoryMb } = LIMITS;
  for (const [path, ...parts] of [
    [
      'docs/isolation.md',
      `${codeDescriptors}; ${codeDescriptorsThroughServer} where connections go through the server`,
      `${codeDescriptors} descriptors, files of ${LIMITS.codeFileBytes / MIB / 1024} GiB, ${LIMITS.codeThreads} threads`,
      `${codeGroupThreads} threads and processes`,
      `has ${LIMITS.egressConnections} connections open`,
      `A bundle may take ${LIMITS.bundleMs / SECOND_MS} seconds, and all bundles at a time ${bundlerMemoryMb} MB`,
    ],
    [
      'docs/scaling.md',
      `${LIMITS.nodes} processes, because`,
      `after ${LIMITS.nodeLeaseMs / SECOND_MS} s without a beat`,
      `its \`max_in_flight\` (${LIMITS.inFlightPerWebhook}, at most ${LIMITS.maxInFlightPerWebhook})`,
    ],
    [
      'docs/operations.md',
      `the newest ${LIMITS.listedPerEmitterAndName} events with one name stay`,
      `The newest ${LIMITS.deploymentsKept} of each workflow and source, the active one`,
      `Of the ${LIMITS.maxQuotaProcesses} processes that there may be`,
      `more than ${english(LIMITS.openCounted)} runs and deliveries open`,
      `of one key ${LIMITS.auditedRefusals} in a minute`,
      `${LIMITS.groupKeptMs / (24 * 60 * MINUTE_MS)} days longer`,
      `takes more than ${LIMITS.bundleMs / SECOND_MS} seconds, or ${bundlerMemoryMb} MB`,
      `at least ${LIMITS.secretKeyChars} visible characters`,
      `for at most ${LIMITS.hooksTimeoutMs / SECOND_MS} seconds`,
    ],
  ] as const) {
    const text = (await readDocument(path)).replaceAll('\n', ' ');
    for (const part of parts) assert.ok(text.includes(part), `${path}: ${part}`);
  }
});

test('the sample proxies let through what the server takes, and wait as long as it does', async () => {
  for (const path of ['deploy/nginx/errand.conf', 'deploy/docker/nginx.conf', 'docs/recipes.md']) {
    const text = await readFile(join(ROOT, path), 'utf8');
    const of = (name: string): number => Number(new RegExp(`${name} (\\d+)[ms];`).exec(text)?.[1]);
    assert.ok(of('client_max_body_size') * MIB > LIMITS.apiBodyBytes, path);
    assert.ok(of('proxy_read_timeout') * SECOND_MS > LIMITS.callerMs, path);
  }
});

test('the map of the architecture names each folder, and nothing that is not there', async () => {
  const text = await readDocument('ARCHITECTURE.md');
  const map = text.slice(text.indexOf('## Parts'), text.indexOf('## The way of one event'));
  const folders = async (path: string): Promise<string[]> =>
    (await readdir(join(ROOT, path), { withFileTypes: true })).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
  const all = await folders('src');
  const inner = (await Promise.all(all.map((name) => folders(`src/${name}`)))).flat();
  const unnamed = [...all, ...inner].filter((name) => !new RegExp(`(?<![\\w-])${name}\\b`).test(map));
  assert.deepEqual(unnamed, []);
  const files = await readdir(join(ROOT, 'src'), { recursive: true });
  const named = [...text.matchAll(/`([a-z][\w.-]*(?:\/[\w.-]+)+)\/?`/g)].map(([, path]) => path as string);
  const isThere = (path: string) =>
    [path, `${path}.ts`].some((one) => files.some((file) => `/${file}`.endsWith(`/${one}`)));
  const outside = /^(test|dist|store\/<backend>)\b/;
  assert.deepEqual(
    named.filter((path) => !outside.test(path) && !isThere(path.replace(/^src\//, ''))),
    [],
  );
});

test('the figures of scaling are the newest of the benchmark', async () => {
  const bench = await readDocument('bench/README.md');
  const sqlite = /^\| Postgres, accept → finished.*\/s of ([\d,]+)\)/m.exec(bench)?.[1] ?? '';
  const postgres = /^\| 10 accept → finished, Postgres, 1, 2, 4 processes[^|]*\| ([\d, ]+)\/s/m.exec(bench)?.[1] ?? '';
  const rates = [sqlite, ...postgres.split(', ')];
  const rateOf = (text: string): number => Number(text.replace(',', ''));
  const measured = rates.map((rate) => [rate, String(Number((rateOf(rate) / rateOf(sqlite)).toFixed(2)))]);
  const rows = tableOf(await readDocument('docs/scaling.md'), 'Accepted, run and finished');
  const documented = rows.map(([, rate = '', share = '']) => [rate, String(Number(share))]);
  assert.deepEqual(documented, measured);
  assert.equal(measured.length, 4);
});
