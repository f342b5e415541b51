// A bundle is kept for as long as all that it was made of is as it was.

import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Bundling } from '../../../../src/runner/bundling/bundling.ts';
import { keptProgram } from '../../../../src/runner/bundling/program.ts';
import { childCode } from '../../../../src/runner/isolation/child-code.ts';
import { keepBundle, keptBundle } from '../../../../src/runner/isolation/kept-bundle.ts';

async function arranged() {
  const dir = await mkdtemp(join(tmpdir(), 'errand-kept-'));
  const files = ['main.ts', 'other.ts'].map((name) => join(dir, name));
  const [entry = '', other = ''] = files;
  for (const file of files) await writeFile(file, 'a');
  return {
    dir,
    ...{ entry, other, files, path: join(dir, 'cache/child.json') },
    later: () => Date.now() + 1000,
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

test('what was kept is there until a file changes', async () => {
  await using at = await arranged();
  const { path, entry, other, files, dir } = at;
  assert.equal(keptBundle(path, entry), null, 'nothing was kept');
  keepBundle(path, { files, text: 'one "<\u2028>"', begunMs: at.later() });
  assert.equal(keptBundle(path, entry), 'one "<\u2028>"');
  assert.equal(keptBundle(path, join(dir, 'copy/main.ts')), null, 'of another checkout');
  await writeFile(other, 'ab');
  assert.equal(keptBundle(path, entry), null, 'of another length');
  keepBundle(path, { files, text: 'two', begunMs: at.later() });
  assert.equal(keptBundle(path, entry), 'two');
  await writeFile(other, 'cd');
  await utimes(other, 1, 1);
  assert.equal(keptBundle(path, entry), null, 'changed at another time');
  keepBundle(path, { files, text: 'three', begunMs: at.later() });
  const { atime, mtime } = await stat(other);
  await writeFile(other, 'ef');
  await utimes(other, atime, mtime);
  assert.equal(keptBundle(path, entry), null, 'changed, and said not to be');
  keepBundle(path, { files, text: 'four', begunMs: at.later() });
  await rm(other);
  assert.equal(keptBundle(path, entry), null, 'gone');
  assert.deepEqual(await readdir(join(dir, 'cache')), ['child.json'], 'nothing is left beside it');
});

test('what changed while it was made is not kept', async () => {
  await using at = await arranged();
  keepBundle(at.path, { files: at.files, text: 'old', begunMs: Date.now() - 60_000 });
  assert.equal(keptBundle(at.path, at.entry), null);
});

test('what cannot be read or written is made anew', async () => {
  await using at = await arranged();
  keepBundle(at.path, { files: at.files, text: 'whole', begunMs: at.later() });
  const whole = await readFile(at.path, 'utf8');
  for (const broken of ['', whole.slice(0, -5), 'null', '{}', '[]']) {
    await writeFile(at.path, broken);
    assert.equal(keptBundle(at.path, at.entry), null, broken);
  }
  keepBundle(join(at.entry, 'child.json'), { files: at.files, text: 'x', begunMs: at.later() });
  keepBundle(at.path, { files: [join(at.dir, 'none')], text: 'x', begunMs: at.later() });
  await chmod(at.dir, 0o500);
  keepBundle(join(at.dir, 'more/child.json'), { files: at.files, text: 'x', begunMs: at.later() });
  await chmod(at.dir, 0o700);
  assert.equal(keptBundle(at.path, at.entry), null);
});

test('the child’s program is kept, and is what is bundled', async () => {
  const text = await childCode();
  const root = join(import.meta.dirname, '../../../..');
  const kept = keptBundle(join(root, 'node_modules/.cache/errand/child.json'), join(root, 'src/runner/child/main.ts'));
  assert.equal(kept, text);
});

test('the bundler’s program is kept in one file, from which its process is started', async () => {
  const program = keptProgram();
  assert.match(String(program), /node_modules\/\.cache\/errand\/bundler-[0-9a-f]{16}\.mjs$/);
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const step = { namespace: 'step', code: 'export default () => 1;' };
  for (const { level, roots } of [
    { level: 'process', roots: [] },
    { level: 'process', roots: null },
    { level: 'jail', roots: [] },
  ] as const) {
    const bundling = new Bundling({ level, user: null, roots, log });
    try {
      assert.equal((await bundling.bundleStep(step, null)).ok, true);
      // In the jail, the process is a child of the one that has the jail's arguments, and these name the program, too.
      const started = (await readFile(`/proc/${bundling.pid}/cmdline`, 'utf8')).split('\0');
      assert.ok(started.includes(String(program)), level);
    } finally {
      bundling.stop();
    }
  }
});
