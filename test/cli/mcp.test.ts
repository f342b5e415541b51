// errand mcp: the tools over standard input and output, asked by the SDK's own client.

import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { BARE_ENV } from '../support/bare-env.ts';
import { connectMcp, type McpClient } from '../support/mcp/client.ts';
import { freePort } from '../support/port.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { openShell, type Shell } from './command.ts';

const newErrand = shareErrand();
const ENTRY = join(import.meta.dirname, '../../src/errand.ts');
const FILE = `import { defineWorkflow } from 'errand/workflow';
import { price } from './lib/price.ts';
export default defineWorkflow({
  name: 'Prices',
  triggers: [{ type: 'http' }],
  steps: (flow) => flow.step('price', () => price),
});
`;

/** The client starts the command, and logs in with a profile as a person has it. */
async function serve(shell: Shell, args: readonly string[], era?: 'legacy'): Promise<McpClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ENTRY, 'mcp', ...args],
    cwd: shell.home,
    env: { ...BARE_ENV, HOME: shell.home },
    stderr: 'ignore',
  });
  return connectMcp(transport, era);
}

test('a profile’s server is served over standard input', async () => {
  await using errand = await newErrand();
  await using shell = await openShell(errand.client);
  const login = ['login', '--url', errand.client.url, '--profile', 'prod'];
  assert.equal((await shell.run(login, { input: errand.client.key })).code, 0);
  await using mcp = await serve(shell, ['--profile', 'prod'], 'legacy');
  const failing = await errand.workflow(`export default () => { throw new Error('no card'); };`);
  await errand.send(failing, {});
  const [error] = await errand.errors(failing.id, 1);
  assert.equal((await mcp.call('read_error', { id: error.id })).message, 'no card');
  assert.match(await mcp.refused('read_error', { id: '1782000000123-0' }), /there is no error.*search tool/s);
  assert.match(await mcp.refused('read_error', { id: 'last' }), /Invalid arguments/);

  // A file here, with what it imports; nothing outside of the folder.
  await mkdir(join(shell.home, 'lib'));
  await writeFile(join(shell.home, 'prices.ts'), FILE);
  await writeFile(join(shell.home, 'lib/price.ts'), 'export const price = 5;');
  await symlink('/etc', join(shell.home, 'etc'));
  const made = await mcp.call('deploy_workflow_file', { path: 'prices.ts' });
  assert.deepEqual([made.result, made.name], ['made', 'Prices']);
  assert.match(await mcp.refused('deploy_workflow_file', { path: 'lib/price.ts' }), /exports no workflow/);
  for (const path of ['../prices.ts', '/etc/passwd', 'etc/passwd', '.config/errand/profiles.json', 'etc/../prices.ts'])
    assert.match(await mcp.refused('deploy_workflow_file', { path }), /is no path of a TypeScript/, path);
  await writeFile(join(shell.home, 'prices.ts'), FILE.replace('name:', 'name::'));
  assert.match(await mcp.refused('deploy_workflow_file', { path: 'prices.ts' }), /prices\.ts:4:8: Unexpected ":"/);

  await using reading = await serve(shell, ['--profile', 'prod', '--read-only']);
  const { tools } = await reading.client.listTools();
  assert.ok(tools.length > 8 && tools.every(({ annotations }) => annotations?.readOnlyHint));
});

test('without a server it says so, and ends', async () => {
  await using shell = await openShell(null);
  const url = `http://127.0.0.1:${await freePort()}`;
  const away = await shell.run(['mcp', '--url', url, '--key', 'a-key-that-no-owner-has-0000']);
  assert.deepEqual([away.code, away.stdout], [5, '']);
  assert.match(away.stderr, /cannot be reached/);
});
