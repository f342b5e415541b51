// The line that explains npm's warnings of engines: `npm ci` may run with an older Node.js than Errand.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const NOTE = join(import.meta.dirname, '../../../release/engine-note.cjs');

/** Returns what is told when npm runs with this Node.js. */
function told(agent: string): string {
  const env = { ...process.env, npm_config_user_agent: agent };
  const { stdout, status } = spawnSync(process.execPath, [NOTE], { env, encoding: 'utf8' });
  assert.equal(status, 0);
  return stdout;
}

test('an older Node.js of npm is explained in one line', () => {
  const note = told('npm/10.8.2 node/v20.20.2 linux x64 workspaces/false');
  assert.match(note, /^Warnings "EBADENGINE" are about npm's own Node\.js v20\.20\.2; Errand runs with .*\n$/);
  assert.ok(note.includes(process.version));
});

test('nothing is said when npm has a Node.js that is new enough', () => {
  for (const agent of [`npm/12.0.0 node/${process.version} linux x64`, 'npm/12.0.0 node/v24.0.0 linux x64', '']) {
    assert.equal(told(agent), '');
  }
});
