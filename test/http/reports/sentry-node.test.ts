// The package @sentry/node as it comes from npm, in a process of its own, with a DSN of ours.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { BARE_ENV } from '../../support/bare-env.ts';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { runCommand } from '../../support/owners.ts';
import { until } from '../../support/wait.ts';

const SHOP = join(import.meta.dirname, 'shop.ts');

/** Runs the program to its end, which is an uncaught exception. */
function runShop(dsn: string): Promise<{ code: number; stderr: string }> {
  const env = { ...BARE_ENV, SENTRY_DSN: dsn };
  return new Promise((resolve) => {
    execFile(process.execPath, [SHOP], { env }, (error, _stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stderr });
    });
  });
}

test('what @sentry/node reports is listed, grouped and told', async () => {
  await using errand = await startErrand();
  const { code, stdout, stderr } = await runCommand(errand, [
    'keys',
    'create',
    '--scopes',
    'ingest',
    '--service',
    'shop',
    '--json',
  ]);
  equal(code, 0, stderr);
  const { dsn, workflow_id: workflowId } = JSON.parse(stdout);
  const shop = await runShop(dsn);
  ok(shop.code !== 0 && shop.stderr.includes('no shelf 9'), shop.stderr);

  const errors = await errand.errors(workflowId, 4);
  equal(errors.length, 4);
  // The client sends what is ready first.
  const of = (code: string): Json[] => errors.map(({ event }) => event).filter(({ error }) => error.code === code);
  const [first, second] = of('TypeError').sort((a, b) => a.original_event.extra.order - b.original_event.extra.order);
  const [[message], [uncaught]] = [of('Message'), of('RangeError')];
  deepEqual(
    [first, second, message, uncaught].map(({ error }) => [error.code, error.msg]),
    [
      ['TypeError', "Cannot read properties of undefined (reading 'toFixed')"],
      ['TypeError', "Cannot read properties of undefined (reading 'toFixed')"],
      ['Message', 'the shop closes'],
      ['RangeError', 'no shelf 9'],
    ],
  );
  match(first.error.stack, /^ {4}at charge \(.*reports\/shop\.ts:20:\d+\)\n/);
  const { context } = first.error;
  deepEqual(
    [context.level, context.release, context.environment, context.tags, context.user.email, context.sdk.name],
    ['error', 'shop@4.1.0', 'test', { region: 'eu' }, 'ada@example.com', 'sentry.javascript.node'],
  );
  ok(context.breadcrumbs.some((crumb: Json) => crumb.message === 'charging order 7'));
  equal(first.original_event.extra.order, 7);
  equal(first.original_event.event_id, context.event_id);
  deepEqual(uncaught.error.context.causes, ['Error: the shelf is gone']);
  equal(message.error.context.level, 'warning');

  const groups = (await errand.client.get('/v1/error_groups?sort=count')).data;
  deepEqual(
    groups.map((group: Json) => [group.emitter_id, group.count]),
    [
      [workflowId, 2],
      [workflowId, 1],
      [workflowId, 1],
    ],
  );
  match(groups[0].why, /same code `TypeError`.*thrown from `charge \(.*shop\.ts\)`/);
  const { text: metrics } = await errand.client.request('GET', '/metrics');
  match(metrics, /errand_envelope_items_total\{item="taken"\} 4\n/);
  const ignored = Number(/errand_envelope_items_total\{item="ignored"\} (\d+)/.exec(metrics)?.[1]);
  ok(ignored >= 2, `${ignored} items of transactions and sessions`);

  await errand.settled();
  const mails = await until('the mails', async () => (await errand.outbox()).length >= 3 && errand.outbox());
  equal(mails.length, 3, 'one for each code');
  const mail = mails.find((one) => one.includes('TypeError')) as string;
  match(mail, /Subject: .*shop: TypeError/);
  match(mail, /at charge/);
});
