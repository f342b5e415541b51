// Hundreds of dead webhooks, and the others.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Lines } from '../../../src/engine/deliveries/delivery-limiter.ts';
import { claimedDelivery, webhook } from './parts.ts';

const ALL = 512;

function create() {
  let now = 0;
  const lines = new Lines(() => now);
  const join = (id: string): boolean => lines.join(id, claimedDelivery(1)) === 'send';
  const enter = (id: string): boolean => lines.take(id, webhook()) && join(id);
  /** By the claim that goes round. */
  const enterInTurn = (id: string): boolean => lines.takeInTurn(id, webhook()) && join(id);
  const comes = (id: string, isDelivered: boolean, tookMs: number): void => {
    lines.came(id, { tookMs, isDelivered });
    lines.done(id);
  };
  const attempt = (id: string, isDelivered: boolean, tookMs = 5): void => {
    assert.ok(enter(id));
    comes(id, isDelivered, tookMs);
  };
  /** How many of so many webhooks get a hand. */
  const entered = (prefix: string, count: number): number =>
    Array.from({ length: count }, (_, n) => enter(`${prefix}${n}`)).filter(Boolean).length;
  return { lines, enter, enterInTurn, comes, attempt, entered, pass: (ms: number) => (now += ms) };
}

test('those that fail share half of the hands', () => {
  const { attempt, entered, enter, enterInTurn, comes } = create();
  for (let n = 0; n < 600; n++) for (let i = 0; i < 3; i++) attempt(`dead${n}`, false);
  assert.equal(entered('dead', 600), ALL / 2);
  assert.equal(enter('new'), true, 'who is not known yet is not among them');
  comes('dead0', false, 15_000);
  assert.equal(enterInTurn('dead599'), true, 'one that is free is for another of them');
});

test('a hand of their share is wanted, another not', () => {
  const { lines, attempt, entered, enterInTurn, comes } = create();
  for (let n = 0; n < 300; n++) for (let i = 0; i < 3; i++) attempt(`dead${n}`, false);
  lines.beginTurn();
  entered('dead', 300);
  attempt('well', true);
  assert.equal(lines.isWanted('well'), false);
  comes('dead0', false, 15_000);
  assert.equal(lines.isWanted('dead0'), true);
  assert.equal(enterInTurn('dead299'), true);
  assert.equal(lines.isWanted('dead0'), false);
});

test('whoever frees a hand leaves it to those who wait', () => {
  const { lines, attempt, entered, enter, enterInTurn, comes } = create();
  for (let n = 0; n < 300; n++) for (let i = 0; i < 3; i++) attempt(`dead${n}`, false);
  attempt('well', true);
  lines.beginTurn();
  assert.equal(entered('dead', 300), ALL / 2);
  lines.endTurn();
  for (let n = 0; n < 10; n++) comes(`dead${n}`, false, 15_000);
  assert.equal(enter('dead0'), false, 'also where many are freed at once');
  assert.equal(enter('well'), true, 'a hand that is of no use to them is for anybody');
  lines.beginTurn();
  assert.equal(enter('dead0'), false, 'the claim has not come to them yet');
  for (let n = 290; n < 299; n++) assert.equal(enterInTurn(`dead${n}`), true);
  lines.endTurn();
  assert.equal(enter('dead0'), false, 'one asked out of turn, and waits as well');
  lines.beginTurn();
  lines.endTurn();
  assert.equal(enter('dead0'), true, 'nobody waits any more');
});

test('hands are for all while nobody waits', () => {
  const { lines, attempt, entered } = create();
  for (let n = 0; n < 600; n++) attempt(`well${n}`, true, 200);
  lines.beginTurn();
  lines.endTurn();
  assert.equal(entered('well', 600), ALL);
});

test('those that are slow count among them', () => {
  const { attempt, entered } = create();
  for (let n = 0; n < 300; n++) attempt(`slow${n}`, true, 15_000);
  assert.equal(entered('slow', 300), ALL / 2);
});

test('those that answer always find a hand', () => {
  const { attempt, entered } = create();
  for (let n = 0; n < 600; n++) attempt(`well${n}`, true, 200);
  const unknown = entered('new', 600);
  assert.ok(unknown > ALL / 2 && unknown < ALL, `${unknown}`);
  assert.equal(unknown + entered('well', 600), ALL);
});

test('those that hang while they hold all leave room', () => {
  const { lines, attempt, entered, enter, pass } = create();
  for (let n = 0; n < 600; n++) attempt(`well${n}`, true, 200);
  assert.equal(entered('well', 600), ALL);
  assert.equal(enter('well599'), false);
  pass(1001);
  lines.sweep();
  assert.equal(enter('well599'), true);
  assert.equal(enter('well0'), false, 'but not for those that hang');
  assert.ok(entered('well', 600) > 0);
  for (let round = 0; round < 20; round++) {
    pass(1001);
    lines.sweep();
    entered(`other${round}-`, 600);
  }
  assert.ok(lines.held <= 2 * ALL, `${lines.held}`);
});

test('those that hang keep no hand from new ones', () => {
  const { lines, attempt, entered, pass } = create();
  const aSecondLater = (): void => {
    pass(1001);
    lines.sweep();
    lines.beginTurn();
    lines.endTurn();
  };
  for (let n = 0; n < 600; n++) attempt(`well${n}`, true, 200);
  assert.equal(entered('dead', 600), (ALL * 3) / 4);
  assert.equal(entered('new', 600), 0);
  aSecondLater();
  assert.equal(entered('new', 600), ALL / 4, 'as many as if those that hang had their share and no more');
  for (let round = 0; round < 8; round++) {
    aSecondLater();
    entered(`other${round}-`, 600);
  }
  assert.ok(lines.held < 2 * ALL, `${lines.held}`);
  assert.equal(entered('well', 600), ALL / 4);
});

test('all hands are free when all is over', () => {
  const { lines, enter, comes, pass } = create();
  for (let n = 0; n < 40; n++) for (let i = 0; i < 8; i++) assert.ok(enter(`wh${n}`));
  pass(2000);
  lines.sweep();
  for (let n = 0; n < 40; n++) for (let i = 0; i < 8; i++) comes(`wh${n}`, i % 2 === 0, i * 500);
  assert.equal(lines.held, 0);
});

test('what is known of webhooks is bounded', () => {
  const { lines, attempt, enter, entered } = create();
  for (let i = 0; i < 3; i++) attempt('dead', false);
  for (let n = 0; n < 30_000; n++) attempt(`wh${n}`, true);
  assert.equal(enter('dead'), true);
  assert.equal(enter('dead'), false, 'that one fails is known for longest');
  assert.equal(lines.held, 1);
  assert.ok(entered('wh', 600) >= ALL / 2);
});
