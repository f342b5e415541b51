// The code of a version that failed, as the stack of an error shows it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeBefore } from '../../../dashboard/src/errors/code-before.ts';
import { lineDiff } from '../../../src/domain/errors/line-diff.ts';

/** Numbers that look random, and are the same each time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test('a difference leads back to the older text', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = numbers(seed);
    const older = Array.from({ length: Math.floor(random() * 30) }, (_, n) => `line ${n} ${Math.floor(random() * 9)}`);
    const newer = older.flatMap((line, n) => {
      const kind = random();
      if (kind < 0.1) return [];
      return kind < 0.2 ? [line, `new ${n}`] : [kind < 0.3 ? `changed ${n}` : line];
    });
    const [before, after] = [older.join('\n'), newer.join('\n')];
    const difference = lineDiff(before, after);
    assert.ok(difference);
    assert.equal(codeBefore(after, difference), before, `seed ${seed}`);
  }
});

test('a step that is gone comes back whole', () => {
  const code = 'export default () => {\n  throw 1;\n};\n';
  const difference = lineDiff(code, '');
  assert.ok(difference);
  assert.equal(codeBefore('', difference), code);
});

test('a place that is not known is not guessed', () => {
  assert.equal(codeBefore('a\nb\na\nb', [' a', '-x', ' b']), null);
  assert.equal(codeBefore('c', [' a', '-x', ' b']), null);
});
