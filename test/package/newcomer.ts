// The way of a new user: the tarball in an empty folder, and what its README says, typed line by line: a workflow deployed, its
// error listed, forwarded and replayed. On the installation of package.test.ts: to pack and install takes as long as all of this.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { blocksOf, headingsOf, linksOf } from '../demo/markdown.ts';
import { freePort } from '../support/port.ts';
import type { Installed } from './installed.ts';

export function newcomerTest(installedAt: () => Installed): void {
  test('The README leads from the tarball to an error replayed', () => walk(installedAt().dir));
}

async function walk(dir: string): Promise<void> {
  const own = join(dir, 'node_modules/errand');
  const readme = await readFile(join(own, 'README.md'), 'utf8');
  assert.doesNotMatch(readme, /npm ci|npm run demo|ARCHITECTURE|CONTRIBUTING/, 'it is about the package');
  for (const { path } of linksOf(readme)) assert.ok(existsSync(join(own, path)), path);
  // The documents refer to them.
  for (const heading of ['the-first-workflow', 'settings']) assert.ok(headingsOf(readme).has(heading), heading);

  // As after `npm install` in an empty folder, which leaves a manifest with the package alone.
  await rm(join(dir, 'program.js'), { force: true });
  const PATH = `${join(process.execPath, '..')}:${join(dir, 'node_modules/.bin')}:${process.env.PATH}`;
  const env = { PATH, HOME: dir, ERRAND_PORT: String(await freePort()), ERRAND_CODE_USER: 'server' };
  const bash = (script: string) => spawn('bash', ['-c', `npx() { "$@"; }\n${script}`], { cwd: dir, env });
  const blocks = blocksOf(readme).filter(
    ({ language, directive }) => language === 'sh' && directive.name !== 'not run',
  );
  let server: ReturnType<typeof bash> | null = null;
  let said = '';
  try {
    for (const { text, directive, line } of blocks) {
      if (directive.name === 'server') {
        server = bash(text.replace(/^npx /, 'exec '));
        await new Promise<void>((resolve, reject) => {
          server?.on('exit', () => reject(new Error(`the server ended: ${said}`)));
          server?.stderr?.on('data', (part) => {
            said += part;
          });
          server?.stdout?.on('data', (part) => {
            said += part;
            if (/is deployed with every save/.test(said)) resolve();
          });
        });
        continue;
      }
      const child = bash(`set -e\n${text}`);
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (part) => {
          printed += part;
        });
      const [code] = await once(child, 'close');
      assert.equal(code, 0, `line ${line}: ${printed}\n${said}`);
      said += printed;
    }
  } finally {
    server?.removeAllListeners('exit');
    server?.kill('SIGTERM');
    if (server && server.exitCode === null) await once(server, 'close');
  }
  assert.match(said, /TOLD[^\n]*\n[^\n]*Charge orders +check [^\n]*RangeError +the order of "Ada" has no total/);
  assert.match(said, /Error desk +succeeded [^\n]*RangeError: the order of "Bob" has no total/);
  assert.match(said, /Charge orders +succeeded/);
  assert.match(said, /^RangeError$/m);
  assert.match(said, /^ {2}dashboard +http:\/\/127\.0\.0\.1:\d+\/\S+ /m);
  assert.match(said, /^ℹ pass 2$\n(?:ℹ .*\n)*?^ℹ fail 0$/m);
}
