// Whose turn it is to read whole events.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import type { RouteOptions } from 'fastify';
import { Refusal } from '../../../../src/domain/refusal.ts';
import { AuditLog } from '../../../../src/http/access/audit-log.ts';
import { TURNS, Turns } from '../../../../src/http/answers/turns.ts';
import { createApp } from '../../../../src/http/app.ts';
import { createBodyMemory } from '../../../../src/http/body/body-memory.ts';
import type { HttpDeps } from '../../../../src/http/deps.ts';

class Answer extends EventEmitter {
  destroyed = false;

  end(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** Takes a turn; `begun` says whether it is there. */
function taking(turns: Turns, ownerId: string) {
  const answer = new Answer();
  const state = { begun: false, refusal: null as unknown };
  const ended = turns.take(ownerId, answer as never).then(
    () => {
      state.begun = true;
    },
    (error: unknown) => {
      state.refusal = error;
    },
  );
  return { answer, state, ended };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const begun = (all: readonly ReturnType<typeof taking>[]): boolean[] => all.map(({ state }) => state.begun);

test('of one owner few are answered at a time, in order, and others do not wait for them', async () => {
  const turns = new Turns();
  const mine = Array.from({ length: 5 }, () => taking(turns, 'u_1'));
  const theirs = taking(turns, 'u_2');
  await settled();
  assert.deepEqual(begun(mine), [true, true, false, false, false]);
  assert.deepEqual(begun([theirs]), [true]);
  mine[1]?.answer.end();
  await settled();
  assert.deepEqual(begun(mine), [true, true, true, false, false]);
  // Who leaves while it waits is passed over.
  mine[3]?.answer.end();
  await mine[3]?.ended;
  assert.ok(mine[3]?.state.refusal instanceof Refusal);
  mine[0]?.answer.end();
  await settled();
  assert.deepEqual(begun(mine), [true, true, true, false, true]);
  for (const one of mine) if (!one.answer.destroyed) one.answer.end();
  const next = [taking(turns, 'u_1'), taking(turns, 'u_1'), taking(turns, 'u_1')];
  await settled();
  assert.deepEqual(begun(next), [true, true, false], 'no place was lost, and none is there twice');
});

test('a caller that is gone takes no place', async () => {
  const turns = new Turns();
  const gone = new Answer();
  gone.destroyed = true;
  for (let n = 0; n < 5; n++) await assert.rejects(turns.take('u_1', gone as never), Refusal);
  const all = [taking(turns, 'u_1'), taking(turns, 'u_1')];
  await settled();
  assert.deepEqual(begun(all), [true, true]);
});

test('too many that wait are refused', async () => {
  const turns = new Turns();
  const all = Array.from({ length: TURNS.atOnce + TURNS.waiting }, () => taking(turns, 'u_1'));
  await settled();
  assert.ok(all.every(({ state }) => state.refusal === null));
  const one = taking(turns, 'u_1');
  await one.ended;
  assert.equal((one.state.refusal as Refusal).code, 'rate_limited');
  for (const { answer } of all) answer.end();
  await Promise.all(all.map(({ ended }) => ended));
});

test('each list of whole events is read in turn', async () => {
  const routes: RouteOptions[] = [];
  const deps = {} as HttpDeps;
  const app = await createApp(deps, {
    serverFactory: (handler) => createServer(handler),
    clientErrorHandler: () => {},
    nextRequestId: () => '',
    bodyMemory: createBodyMemory({ maxBytes: 0, maxOwnerBytes: 0 }),
    auditLog: new AuditLog(deps),
    buildDocument: () => Promise.reject(new Error('it is asked for by no request')),
    beforeRoutes: async (asked) => {
      asked.addHook('onRoute', (route) => {
        if (route.method === 'GET' || route.method === 'POST') routes.push(route);
      });
    },
  });
  await app.close();
  const names = (of: readonly RouteOptions[]): string[] => of.map(({ schema }) => schema?.operationId ?? '').sort();
  const inTurn = routes.filter(({ preHandler }) => [preHandler ?? []].flat().some(({ name }) => name === 'take'));
  const errors = ['listHeartbeatErrors', 'listSourceErrors', 'listWebhookErrors', 'listWorkflowErrors', 'searchErrors'];
  const events = names(routes).filter((name) => /^list\w+Events$/.test(name));
  assert.ok(events.length >= 3, `${events}`);
  const computed = ['getErrorGroupDifferences', 'previewErrorGroups'];
  assert.deepEqual(names(inTurn), [...errors, ...events, ...computed].sort());
});
