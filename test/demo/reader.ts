// Somebody who types what a document says: one shell, in a folder like a checkout, against a real server.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { BARE_ENV } from '../support/bare-env.ts';
import { type Client, createClient } from '../support/client.ts';
import { freePort } from '../support/port.ts';
import { type ErrandProcess, spawnErrand } from '../support/process.ts';
import { type Block, blocksOf, isPromised } from './markdown.ts';

export const ROOT = join(import.meta.dirname, '../..');
const LINKED = ['node_modules', 'examples', 'src', 'package.json'];
/** What examples may need of the server beyond its defaults, as a document has to name it. Folders are below the reader's. */
const EXAMPLE_SETTINGS = [
  'ERRAND_ALLOW_TARGETS=127.0.0.1/32',
  'ERRAND_COMPONENTS_DIR=./components',
  'ERRAND_OWNERS_WITHOUT_JAIL=2',
  'ERRAND_WORKFLOWS_DIR=./workflows',
];

export function readDocument(path: string): Promise<string> {
  return readFile(join(ROOT, path), 'utf8');
}

interface Printed {
  readonly block: Block;
  readonly output: string;
}

/** Runs the document's shell blocks; fails at the first that fails, and when one prints what it does not promise. */
export async function typeAll(path: string): Promise<void> {
  const cwd = await mkdtemp(join(tmpdir(), 'errand-docs-'));
  try {
    for (const name of LINKED) await symlink(join(ROOT, name), join(cwd, name));
    const document = await readDocument(path);
    await using errand = await spawnErrand({
      ERRAND_DATA_DIR: join(cwd, 'data'),
      ERRAND_LOG_LEVEL: 'error',
      ERRAND_OWNERS_WITHOUT_JAIL: '1',
      ...(await settingsNamedIn(document, cwd)),
    });
    const key = (await readFile(join(cwd, 'data/api-key'), 'utf8')).trim();
    const client = createClient(errand.url, key);
    const blocks = blocksOf(document);
    for (const { language, directive, line } of blocks) {
      const isSilent = language === 'sh' || directive.name !== '';
      assert.ok(isSilent, `${path}:${line}: a block of ${language || 'nothing'} says nothing of what it is`);
    }
    await deployAll(path, blocks, client);
    const functions = path === 'README.md' ? [] : [await readmeFunctions()];
    const shell = [...functions, ...blocks].filter(
      ({ language, directive }) => language === 'sh' && directive.name === '',
    );
    for (const { block, output } of await type(shell, { cwd, errand })) {
      if (block.expected === null) continue;
      const where = `${path}:${block.line}`;
      assert.ok(isPromised(block.expected, output), `${where} promises\n${block.expected}\nand prints\n${output}`);
    }
    assert.equal(errand.stderr(), '');
  } finally {
    await rm(cwd, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A reader starts the server with what the document says, and no more: an example that needs more has to say so. */
async function settingsNamedIn(document: string, cwd: string): Promise<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const setting of EXAMPLE_SETTINGS.filter((one) => document.includes(one))) {
    const [name = '', value = ''] = setting.split('=');
    const isFolder = value.startsWith('./');
    if (isFolder) await mkdir(join(cwd, value));
    settings[name] = isFolder ? join(cwd, value) : value;
  }
  return settings;
}

/** The README's first block that is run: what every other document builds on. */
async function readmeFunctions(): Promise<Block> {
  const blocks = blocksOf(await readDocument('README.md'));
  return blocks.find(({ language, directive }) => language === 'sh' && directive.name === '') as Block;
}

async function deployAll(path: string, blocks: readonly Block[], client: Client): Promise<void> {
  for (const { text: code, directive, line } of blocks) {
    const where = `${path}:${line}`;
    if (directive.name === 'file') assert.equal(code, await readDocument(directive.value), where);
    if (directive.name === 'step') {
      const steps = [{ namespace: 'step', code }];
      const answer = await client.request('POST', '/v1/workflows', { name: where, steps });
      assert.equal(answer.status, 200, `${where}: ${answer.text}`);
      await client.delete(`/v1/workflows/${answer.json.data.id}`);
    }
    if (directive.name === 'source') {
      const answer = await client.request('POST', '/v1/sources', { component_code: code });
      assert.equal(answer.status, 200, `${where}: ${answer.text}`);
      await client.delete(`/v1/sources/${answer.json.data.id}`);
    }
  }
}

interface Place {
  readonly cwd: string;
  readonly errand: ErrandProcess;
}

/** One bash for all blocks, so that what one sets the next one has. As if all were pasted at once: nothing waits between two. */
async function type(blocks: readonly Block[], { cwd, errand }: Place): Promise<Printed[]> {
  // The ports that documents name may be taken here.
  const ports = new Map([
    ['4400', new URL(errand.url).port],
    ['8787', String(await freePort())],
  ]);
  const marked = blocks.map(({ text: typed, line }, i) => `echo; echo "@@ ${i}"; at=${line}\n${typed}\n`);
  const script = [PRELUDE, ...marked].join('').replaceAll(/\b(4400|8787)\b/g, (port) => ports.get(port) as string);
  const child = spawn('bash', ['-c', script], {
    cwd,
    env: { ...BARE_ENV, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: cwd, PORT: ports.get('8787') },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // What it left running, since a block failed, would keep its outputs open.
  child.once('exit', () => killGroup(child.pid as number));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  assert.equal(child.exitCode, 0, `the shell ended with ${child.exitCode}\n${stdout}\n${stderr}`);
  const outputs = stdout.split(/^@@ \d+\n/m).slice(1);
  return blocks.map((block, i) => ({ block, output: outputs[i] ?? '' }));
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const PRELUDE = `
set -euo pipefail
at=0
trap 'echo "the block in line $at failed" >&2' ERR
`;
