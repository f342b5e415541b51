// Where a server that is root can run code as another user, and where it cannot.

import { equal, match } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../support/folders/folder.ts';

const FILE = join(import.meta.dirname, '../../../src/server/code-user.ts');
const ASK = `import { obstacleTo, passableTmp } from ${JSON.stringify(FILE)};
  console.log(JSON.stringify([obstacleTo({ uid: 65534, gid: 65534 }), passableTmp()]));`;
const skip = process.getuid?.() !== 0 && 'needs root';

function ask(before: readonly string[], env: Record<string, string> = {}): [obstacle: string | null, tmp: string] {
  const [command = '', ...args] = [...before, process.execPath, '--input-type=module', '--eval', ASK];
  return JSON.parse(execFileSync(command, args, { env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' }));
}

test('root may run code as somebody else', { skip }, () => {
  equal(ask([])[0], null);
});

test('a root without the right says so', { skip }, () => {
  match(ask(['setpriv', '--bounding-set=-setuid'])[0] ?? '', /CAP_SETUID/);
});

test('a root without other users says so', { skip }, () => {
  match(ask(['unshare', '--user', '--map-root-user'])[0] ?? '', /no user 65534/);
});

test('a closed folder is passed by', { skip }, async () => {
  await using folder = await createFolder();
  chmodSync(folder.path, 0o700);
  const [obstacle, tmp] = ask([], { TMPDIR: folder.path });
  equal(obstacle, null);
  equal(tmp, '/tmp');
});
