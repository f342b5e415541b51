// Causes that clients of Sentry report: they tell groups apart, are found, and stand in notices.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { sharedErrand } from '../../support/owners.ts';
import { until } from '../../support/wait.ts';
import { type Dsn, dsnFor, envelope, errorsOf, send } from './envelope.ts';

const newOwner = sharedErrand();

const trace = (fn: string, file = 'shop.js') => ({ frames: [{ function: fn, filename: file, in_app: true }] });
const THROWN = { type: 'TypeError', value: 'fetch failed', stacktrace: trace('order') };

/** What was thrown, and its causes, the nearest first. */
const report = (dsn: Dsn, causes: readonly object[], thrown: object = THROWN) =>
  send(dsn, envelope([{ type: 'event' }, JSON.stringify({ exception: { values: [...causes.toReversed(), thrown] } })]));

test('errors with other causes are other groups', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const cases: [readonly object[], string][] = [
    [[], 'fetch failed'],
    [[{ type: 'RangeError', value: 'port 70000' }], 'fetch failed [cause: RangeError]'],
    [[{ type: 'RangeError', value: 'port 80000' }], 'fetch failed [cause: RangeError]'],
    [[{ type: 'Error', value: 'no answer' }], 'fetch failed'],
    [[{ type: 'Error', value: 'connect ECONNREFUSED 127.0.0.1:5432' }], 'fetch failed [cause: ECONNREFUSED]'],
    [[{ type: 'Error', value: 'getaddrinfo ENOTFOUND db' }], 'fetch failed [cause: ENOTFOUND]'],
    [[{ type: 'A' }, { type: 'B', value: 'b' }], 'fetch failed [cause: A] [cause: B]'],
    [[{}, null as never, { value: { a: 1 } }], 'fetch failed'],
    [
      Array.from({ length: 20 }, (_, n) => ({ type: `C${n}`, value: 'x'.repeat(9000) })),
      'fetch failed [cause: C0] [cause: C1] [cause: C2] [cause: C3]',
    ],
  ];
  for (const [causes, template] of cases) {
    equal((await report(dsn, causes)).status, 200);
    const [{ metadata }] = (await errand.client.get('/v1/errors?limit=1')).data;
    const group = (await errand.client.get(`/v1/error_groups/${metadata.group_id}`)).data;
    deepEqual([group.fingerprint.template, group.fingerprint.frame], [template, 'order (shop.js)']);
  }
  const { data: found } = await errand.client.get('/v1/errors?text=ECONNREFUSED');
  equal(found.length, 1);
});

test('causes follow the frames, and those of groups of errors are none', async () => {
  const errand = await newOwner();
  const dsn = await dsnFor(errand);
  const stackOf = async (causes: readonly object[], thrown?: object): Promise<string[]> => {
    equal((await report(dsn, causes, thrown)).status, 200);
    return ((await errorsOf(errand, dsn)) as [Json])[0].event.error.stack.split('\n');
  };
  const deep = { type: 'RangeError', value: 'socket\n  closed', stacktrace: trace('read', 'net.js') };
  deepEqual(await stackOf([{ type: 'Error', value: 'db gone' }, deep]), [
    '    at order (shop.js)',
    '    at [cause: Error: db gone]',
    '    at [cause: RangeError: socket closed]',
    '    at read (net.js)',
  ]);
  const chained = (id: number, parent: number, source: string) => ({
    mechanism: { type: 'chained', exception_id: id, parent_id: parent, source },
  });
  const ofGroup = [
    { type: 'Member0', value: 'm0', ...chained(3, 0, 'errors[1]') },
    { type: 'Cause', value: 'of the group', ...chained(1, 0, 'cause') },
    { type: 'Member1', value: 'm1', ...chained(4, 3, 'cause') },
    { type: 'Deep', value: 'of the cause', ...chained(2, 1, 'cause') },
  ];
  const group = { ...THROWN, mechanism: { exception_id: 0, is_exception_group: true } };
  deepEqual(await stackOf(ofGroup, group), [
    '    at order (shop.js)',
    '    at [cause: Cause: of the group]',
    '    at [cause: Deep: of the cause]',
  ]);
  const loop = [{ type: 'Self', value: 's', ...chained(0, 0, 'cause') }];
  equal((await stackOf(loop, group)).length, 2);
  const many = { frames: Array.from({ length: 90 }, (_, n) => ({ function: `f${n}`, filename: 'x.js' })) };
  const causes = Array.from({ length: 5 }, (_, n) => ({ type: `C${n}`, value: 'ü'.repeat(2000), stacktrace: many }));
  const lines = await stackOf(causes, { ...THROWN, stacktrace: many });
  deepEqual([lines.length, lines.filter((line) => /^ {4}at \[cause: C\d: ü+\]$/.test(line)).length], [50, 4]);
});

test('mails and notices show the causes', async () => {
  await using errand = await startErrand();
  const channel = { kind: 'mail', name: 'team', config: { to: 'team@example.com' } };
  const { id } = await errand.client.post('/v1/channels', channel);
  await errand.client.put('/v1/users/me', { channels: [id] });
  const dsn = await dsnFor(errand);
  const frames = Array.from({ length: 12 }, (_, n) => ({ function: `f${n}`, filename: 'shop.js', in_app: true }));
  const causes = [
    { type: 'DatabaseError', value: 'db gone' },
    { type: 'RangeError', value: 'socket', stacktrace: { frames } },
  ];
  equal((await report(dsn, causes, { ...THROWN, stacktrace: { frames } })).status, 200);
  const mails = await until('both mails', async () => {
    const all = (await errand.outbox()).filter((mail) => mail.includes('fetch failed'));
    return all.length >= 2 && all;
  });
  const [notice] = mails.filter((mail) => mail.includes('team@example.com'));
  match(String(notice), /Cause: +DatabaseError: db gone, caused by RangeError: socket/);
  const [own = ''] = mails.filter((mail) => !mail.includes('team@example.com'));
  ok(own.includes('at [cause: DatabaseError: db gone]') && own.includes('at [cause: RangeError: socket]'), own);
});
