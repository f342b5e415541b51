// The package @sentry/node of each major version that teams still have, from the registry, with a DSN of ours.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { BARE_ENV } from '../../support/bare-env.ts';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createOwner, type OwnerOn } from '../../support/owners.ts';
import { type Dsn, dsnFor, errorsOf } from './envelope.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SHOP = join(import.meta.dirname, 'old-shop.ts');
const VERSIONS = [7, 8, 9, 10, 11];

const WANTED = [
  "TypeError: Cannot read properties of undefined (reading 'toFixed')",
  'Message: the shop closes',
  'RangeError: no shelf 9',
  'Error: a text',
  'Error: Object captured as exception with keys: odd',
  'RangeError: with a file of 1000 bytes',
  'RangeError: a large one',
];

const run = promisify(execFile);

/** Returns the folder in which the client is installed, which is kept for the next time; or, in words, why it cannot be had here. */
async function clientOf(major: number): Promise<{ readonly dir: string } | { readonly why: string }> {
  const dir = join(ROOT, 'node_modules/.cache', `sentry-node-${major}`);
  try {
    if (!existsSync(join(dir, 'node_modules/@sentry/node/package.json'))) {
      await mkdir(dir, { recursive: true });
      await writeFile(join(dir, 'package.json'), '{"private": true}');
      const args = ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
      await run('npm', [...args, `@sentry/node@${major}`], { cwd: dir, timeout: 300_000 });
    }
    return { dir };
  } catch (error) {
    return {
      why: `@sentry/node ${major} cannot be had here: ${String((error as { stderr?: unknown }).stderr || error)}`,
    };
  }
}

interface Ended {
  readonly code: number;
  readonly stderr: string;
  /** What the client was answered, and for what; null: it sent nothing. */
  readonly answers: readonly { readonly type: string; readonly status: number | null }[];
}

function shop(dir: string, { origin, key, project }: Dsn, acts: readonly string[]): Promise<Ended> {
  const env = { ...BARE_ENV, SENTRY_DSN: `http://${key}@${new URL(origin).host}/${project}` };
  return new Promise((resolve) => {
    execFile(process.execPath, [SHOP, ...acts], { cwd: dir, env }, (error, stdout, stderr) => {
      const lines = stdout.trim().split('\n');
      const answers = lines.flatMap((line) => (line.startsWith('{"type"') ? [JSON.parse(line)] : []));
      resolve({ code: error === null ? 0 : Number(error.code), stderr, answers });
    });
  });
}

const statusesOf = ({ answers }: Ended, type = 'event'): (number | null)[] =>
  answers.filter((one) => one.type === type).map(({ status }) => status);

async function ignored({ client }: Errand): Promise<number> {
  const { text } = await client.request('GET', '/metrics');
  return Number(/errand_envelope_items_total\{item="ignored"\} (\d+)/.exec(text)?.[1] ?? 0);
}

async function reports(errand: Errand, owner: OwnerOn, dir: string): Promise<void> {
  const dsn = await dsnFor(owner);
  const before = await ignored(errand);
  const acts = ['error', 'message', 'thrown', 'file', 'large', 'others', 'uncaught'];
  const ended = await shop(dir, dsn, acts);
  ok(ended.code !== 0 && ended.stderr.includes('no shelf 9'), ended.stderr);
  ok(
    ended.answers.every(({ status }) => status === 200),
    JSON.stringify(ended.answers),
  );
  // The client sends what is ready first.
  const errors = new Map<string, Json>();
  for (const { event } of await errorsOf(owner, dsn))
    errors.set(`${event.error.code}: ${event.error.msg}`, event.error);
  deepEqual([...errors.keys()].toSorted(), WANTED.toSorted());
  const [first, message, uncaught] = WANTED.map((one) => errors.get(one));
  match(first.stack, /^ {4}at charge \(.*old-shop\.ts:\d+:\d+\)\n/);
  const { context } = first;
  deepEqual(
    [context.release, context.tags, context.user, context.breadcrumbs[0].message, context.sdk.name],
    ['shop@4.1.0', { region: 'eu' }, { email: 'ada@example.com' }, 'charging order 7', 'sentry.javascript.node'],
  );
  deepEqual([message.context.level, uncaught.context.causes], ['warning', ['Error: the shelf is gone']]);
  ok((await ignored(errand)) >= before + 3, 'transactions, sessions, check-ins, files and the like');
  const { data: groups } = await owner.client.get('/v1/error_groups');
  equal(groups.length, WANTED.length);
}

async function isRefused(errand: Errand, owner: OwnerOn, dir: string): Promise<void> {
  const dsn = await dsnFor(owner, 'refused');
  const kept = async (): Promise<string[]> => (await errorsOf(owner, dsn)).map(({ event }: Json) => event.error.msg);
  // The client goes on behind a refusal.
  deepEqual(statusesOf(await shop(dir, dsn, ['oversized', 'message'])), [413, 200]);
  deepEqual(await kept(), ['the shop closes']);
  const wrong = { ...dsn, key: 'x'.repeat(32) };
  deepEqual(statusesOf(await shop(dir, wrong, ['message'])), [401]);
  await errand.client.put(`/v1/owners/${owner.id}/quotas`, { requests_per_second: 1 });
  const flood = statusesOf(await shop(dir, dsn, ['flood']));
  await errand.client.put(`/v1/owners/${owner.id}/quotas`, { requests_per_second: null });
  ok(flood.includes(429) && flood.includes(200), JSON.stringify(flood));
  equal((await kept()).length, 1 + flood.filter((status) => status === 200).length);
}

for (const major of VERSIONS) {
  test(`clients of version ${major} report, and take refusals`, { timeout: 300_000 }, async (t) => {
    const client = await clientOf(major);
    if ('why' in client) return t.skip(client.why);
    await using errand = await startErrand();
    const owner = await createOwner(errand, 'Ada');
    await reports(errand, owner, client.dir);
    await isRefused(errand, owner, client.dir);
  });
}
