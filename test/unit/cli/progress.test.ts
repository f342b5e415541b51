// How far long work is: a bar in a terminal, a line now and then elsewhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barOf, createProgress } from '../../../src/cli/shell/progress.ts';

function stage(isTTY: boolean) {
  let [written, nowMs] = ['', 0];
  const write = (text: string | Uint8Array): boolean => {
    written += text;
    return true;
  };
  const progress = createProgress({ isTTY, write } as Parameters<typeof createProgress>[0], () => nowMs);
  const forward = (ms: number): void => {
    nowMs += ms;
  };
  return { progress, forward, written: () => written };
}

test('a bar is as full as the work is done', () => {
  assert.equal(barOf(0), `[${'·'.repeat(24)}]   0 %`);
  assert.equal(barOf(0.5), `[${'█'.repeat(12)}${'·'.repeat(12)}]  50 %`);
  assert.equal(barOf(1), `[${'█'.repeat(24)}] 100 %`);
  assert.equal(barOf(7), barOf(1));
});

test('a terminal has one line, written over', () => {
  const { progress, written } = stage(true);
  progress.show('replay: a long text', null);
  progress.show('replay', 0.25);
  progress.clear();
  assert.ok(!written().includes('\n'));
  assert.match(written(), /^\rreplay: a long text\r\[█{6}·{18}\] {2}25 % replay *\r +\r$/);
});

test('elsewhere there is a line now and then', () => {
  const { progress, forward, written } = stage(false);
  progress.show('replay', 0.1);
  assert.equal(written(), '', 'short work has none');
  forward(10_000);
  progress.show('replay', 0.5);
  progress.show('replay', 0.6);
  forward(10_000);
  progress.show('counting', null);
  progress.end();
  progress.clear();
  assert.equal(written(), '50 % replay\ncounting\n');
});
