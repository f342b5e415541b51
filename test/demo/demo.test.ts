import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import test from 'node:test';
import { styleText } from 'node:util';
import { createStory, FalseFact } from '../../examples/demo/story.ts';
import { until } from '../support/wait.ts';
import { type Play, play } from './play.ts';

const FORCED = { validateStream: false };
const BIG_NUMBER = '12345678901234567890';

/** The headings in their order, and what must stand under each. */
const CHAPTERS: readonly (readonly [string, RegExp])[] = [
  ['1. A server, and code deployed over its HTTP interface', /✓ three subscriptions stand/],
  [
    '2. Two orders: one with a voucher, one without',
    new RegExp(`curl -sS http://127\\.0\\.0\\.1:\\d+/e/.*-d '\\{"number": ${BIG_NUMBER},`, 's'),
  ],
  [
    '3. The error is listed, with the event that caused it',
    new RegExp(`✓ its code is TypeError, from step "check".*✓ .* byte for byte, ${BIG_NUMBER}`, 's'),
  ],
  ['4. Another workflow was told, by subscription', /succeeded: kept TypeError of Check order/],
  ['5. A webhook was told, with a signature', /webhook-signature: v1,.*✓ npm’s standardwebhooks verifies it/s],
  ['6. A mail was written', /Subject: \[Errand\] Check order: TypeError Cannot read/],
  ['7. Receipts: who was told of this error', /mail +delivered.*✓ four were told, each once/s],
  ['8. The code is corrected, and the event replayed', /✓ "ada pays 9\.00"/],
  ['9. An event source: each order once', /✓ the repeat is counted.*✓ A-1 was emitted once/s],
  ['10. kill -9', /✓ all \d+ have run to their end/],
  ['11. The ledger adds up', /✓ the lists count the same as the ledger/],
];

async function assertNothingLeft({ tmp }: Play): Promise<void> {
  assert.deepEqual(await readdir(tmp), []);
}

test('the demo tells its story to the end', async () => {
  await using demo = await play({ env: { ERRAND_PORT: '1', ERRAND_NONSENSE: 'of the caller' } });
  const code = await demo.ended;
  const story = demo.stdout();
  assert.equal(code, 0, demo.stderr());
  assert.equal(demo.stderr(), '');
  const starts = CHAPTERS.map(([heading]) => story.indexOf(`\n${heading}\n`));
  CHAPTERS.forEach(([heading, told], i) => {
    const start = starts[i] as number;
    assert.ok(start >= 0, `no heading "${heading}" in:\n${story}`);
    assert.match(story.slice(start, starts[i + 1]), told);
  });
  const facts = story.match(/^ {3}✓ /gm)?.length ?? 0;
  assert.match(story, new RegExp(`${facts} facts checked\\.\\s*$`));
  await assertNothingLeft(demo);
});

test('a piped story has no colour codes or trailing spaces', async () => {
  await using demo = await play({ cwd: '/' });
  assert.equal(await demo.ended, 0, demo.stderr());
  const lines = demo.stdout().split('\n');
  assert.ok(!demo.stdout().includes('\x1b'));
  assert.deepEqual(
    lines.filter((line) => /[ \t]$/.test(line)),
    [],
  );
});

test('a fact that is false ends the story', () => {
  const told: string[] = [];
  const story = createStory({ write: (text) => void told.push(text), isColoured: true });
  story.heading('Facts');
  story.fact('one is one', true);
  assert.throws(() => story.fact('one is two', false), FalseFact);
  assert.deepEqual(told, [
    `\n${styleText('bold', '1. Facts', FORCED)}\n\n`,
    `   ${styleText('green', '✓', FORCED)} one is one\n`,
  ]);
});

test('kept running, it answers until it is interrupted', async () => {
  await using demo = await play({ args: ['--keep'] });
  await until('the invitation', () => {
    if (demo.child.exitCode !== null) throw new Error(demo.stderr());
    return demo.stdout().includes('/outbox\n');
  });
  const [, url] = /^ +URL=(\S+)/m.exec(demo.stdout()) as unknown as [string, string];
  const [, key] = /^ +KEY=(\S+)/m.exec(demo.stdout()) as unknown as [string, string];
  const answer = await fetch(`${url}/v1/workflows`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(answer.status, 200);
  demo.child.kill('SIGINT');
  assert.equal(await demo.ended, 0, demo.stderr());
  await assert.rejects(fetch(`${url}/healthz`));
  await assertNothingLeft(demo);
});

test('interrupted in the middle, it cleans up', async () => {
  await using demo = await play();
  await until('the third chapter', () => demo.stdout().includes('3. '));
  demo.child.kill('SIGINT');
  assert.equal(await demo.ended, 130, demo.stderr());
  await assertNothingLeft(demo);
});
