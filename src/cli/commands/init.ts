// errand init: a project with one workflow, its types, a test and a README.

import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { makeFolder } from '../../make-folder.ts';
import { throwNaming } from '../../named-path.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError } from '../shell/exit.ts';
import { completed } from '../shell/manifest.ts';
import { ownPackage } from '../shell/own-package.ts';

const FILE = 'charge-orders.ts';
/** Of a package, by the rules of npm. */
const MAX_NAME_CHARS = 214;
const MANIFEST = 'package.json';
const DEPENDENCY = 'dependencies.errand';
const README = 'README.md';
const IGNORED = '.gitignore';
/** What a repository may have already, and gets nothing from us that it lacks, or only lines that it lacks. */
const COMPLETED: ReadonlySet<string> = new Set([MANIFEST, README, IGNORED]);

const WORKFLOW = `import { defineWorkflow } from 'errand/workflow';

interface Order {
  readonly customer: string;
  readonly total: number;
}

export default defineWorkflow({
  name: 'Charge orders',
  triggers: [{ type: 'http', custom_response: true }],
  steps: (flow) =>
    flow
      .step('check', ({ event }) => {
        const { customer, total } = event.body as Order;
        if (!(total > 0)) throw new RangeError(\`the order of "\${customer}" has no total\`);
        return { customer, total };
      })
      .step('answer', async ({ steps, $ }) => {
        await $.respond({ body: steps.check.$return_value });
      }),
});
`;

const TEST = `// The fixture of an error that happened: npx errand errors show last --fixture > test/no-total.json

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runFixture, type Fixture } from 'errand/testing';
import workflow from '../workflows/${FILE}';

const fixture = (body: object): Fixture => ({
  fixture: 1,
  id: '1782000000123-0',
  emitter_id: 'p_0Vj3aBc9dEfGhIjK',
  step: { namespace: 'check', id: 'c_0Vj3aBc9dEfGhIjK' },
  error: { code: 'RangeError', msg: '', stack: '' },
  original_context: {},
  original_event_text: JSON.stringify({ body }),
});

test('an order with a total is answered', async () => {
  const run = await runFixture(workflow, fixture({ customer: 'Ada', total: 12 }));
  assert.equal(run.state, 'succeeded');
});

test('an order without a total is an error', async () => {
  const run = await runFixture(workflow, fixture({ customer: 'Ada', total: 0 }));
  assert.equal(run.error?.code, 'RangeError');
});
`;

const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'es2024', module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true },
    ...{ erasableSyntaxOnly: true, verbatimModuleSyntax: true, allowImportingTsExtensions: true, types: ['node'] },
  },
  include: ['workflows', 'test'],
};

/** Returns the text of each file by its path. `spec`: how the manifest names the package. */
export function projectFiles(name: string, spec: string): ReadonlyMap<string, string> {
  const manifest = {
    ...{ name, private: true, type: 'module' },
    scripts: {
      check: 'tsc',
      test: 'node --test "test/**/*.test.ts"',
      dev: 'errand dev workflows',
      start: 'errand start --workflows-dir workflows',
      deploy: 'errand deploy workflows',
    },
    dependencies: { errand: spec },
    devDependencies: { '@types/node': '^24.0.0', typescript: '^5.9.0' },
  };
  return new Map([
    [MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`],
    ['tsconfig.json', `${JSON.stringify(TSCONFIG, null, 2)}\n`],
    [IGNORED, 'node_modules/\ndata/\n.env\n'],
    [`workflows/${FILE}`, WORKFLOW],
    ['test/charge-orders.test.ts', TEST],
    [README, readme(name)],
  ]);
}

function readme(name: string): string {
  return `# ${name}

Workflows for [Errand](node_modules/errand/README.md).

- \`npm install\`, then \`npm run dev\`: a server that deploys \`workflows/\` with every save, and shows runs, errors and types;
  \`npm start\` is the server alone.
- \`npx errand trigger "Charge orders" --data '{"customer": "Ada", "total": 12}'\` sends an event.
- Variables and secrets are in \`workflows/.env\`, as lines such as \`CARD_KEY=…\`; it is in no repository.
- \`npx errand errors list\` tells what failed, \`npx errand errors replay last\` runs it again.
- \`npm test\` and \`npm run check\` test the code and its types.
- \`npx errand login\` and \`npm run deploy\` deploy to another server.
`;
}

export function addInit(program: Command, usersUmask: number): void {
  const init = program
    .command('init [folder]')
    .description('create a project with one workflow, its types, a test and a README; existing files are kept');
  withExamples(init, 'errand init my-workflows');
  init.action(async (folder = '.') => {
    const dir = resolve(folder);
    const name =
      basename(dir)
        .toLowerCase()
        .replace(/[^a-z0-9.-]+/g, '-')
        .replace(/^[.-]+/, '')
        .slice(0, MAX_NAME_CHARS) || 'workflows';
    const { spec, packIn } = await ownPackage(dir);
    const files = new Map(projectFiles(name, spec));
    for (const path of files.keys()) {
      const isThere = await stat(join(dir, path)).then(
        () => true,
        () => false,
      );
      if (!isThere) continue;
      if (!COMPLETED.has(path)) throw new CliError(`${join(dir, path)} is there already: nothing was written`);
      if (path === README) files.delete(path);
    }
    process.umask(usersUmask);
    const existing = await readFile(join(dir, MANIFEST), 'utf8').catch(() => null);
    const manifest = existing === null ? null : completed(existing, files.get(MANIFEST) ?? '{}', join(dir, MANIFEST));
    if (manifest !== null) files.delete(MANIFEST);
    // Both first: they can be done again.
    if (manifest !== null) await replace(join(dir, MANIFEST), manifest.text);
    const ignored = await completeIgnored(join(dir, IGNORED), files.get(IGNORED) ?? '');
    if (ignored !== null) files.delete(IGNORED);
    await writeAll(dir, files);
    if (manifest !== null && manifest.added.length > 0)
      process.stderr.write(`${join(folder, MANIFEST)} has ${manifest.added.join(', ')} now\n`);
    if (ignored !== null && ignored.length > 0)
      process.stderr.write(`${join(folder, IGNORED)} has ${ignored.join(', ')} now\n`);
    for (const path of files.keys()) process.stdout.write(`${join(folder, path)}\n`);
    const enter = folder === '.' ? '' : `cd ${quoted(folder)} && `;
    const isNamed = manifest === null || manifest.added.includes('dependencies') || manifest.added.includes(DEPENDENCY);
    const pack = packIn !== null && isNamed ? `(cd ${quoted(packIn)} && npm pack) && ` : '';
    process.stderr.write(`Next: ${pack}${enter}npm install && npm run dev\n`);
  });
}

// Adds the lines that the file lacks, and returns them; null: there is no such file. The data dir has keys, and `.env` secrets.
async function completeIgnored(file: string, wanted: string): Promise<string[] | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new CliError(`${file} cannot be completed: ${error.message}`);
  });
  if (text === null) return null;
  const has = new Set(text.split('\n').map((line) => line.trim().replace(/^\/|\/$/g, '')));
  const added = wanted
    .trim()
    .split('\n')
    .filter((line) => !has.has(line.replace(/\/$/, '')));
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  if (added.length > 0) await replace(file, `${text}${end}${added.map((line) => `${line}\n`).join('')}`);
  return added;
}

// Returns a path as a shell takes it.
function quoted(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

// Writes all files, or none: what was made is removed when one cannot be written, so that the command can be called again.
async function writeAll(dir: string, files: ReadonlyMap<string, string>): Promise<void> {
  const made: string[] = [];
  try {
    for (const [path, text] of files) {
      const file = join(dir, path);
      const folder = await makeFolder(dirname(file));
      if (folder !== null) made.push(folder);
      await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
        // Of a full disk, a part is there; another program's file is not ours.
        if (error.code !== 'EEXIST') made.push(file);
        throwNaming(file)(error);
      });
      made.push(file);
    }
  } catch (error) {
    for (const path of made.reverse()) await rm(path, { recursive: true, force: true }).catch(() => undefined);
    throw new CliError(`the project cannot be written, and nothing of it was: ${(error as Error).message}`);
  }
}

// Replaces a file at once: a full disk leaves the old one.
async function replace(file: string, text: string): Promise<void> {
  const made = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(made, text, { mode: (await stat(file)).mode }).catch(throwNaming(file));
    await rename(made, file);
  } catch (error) {
    await rm(made, { force: true }).catch(() => undefined);
    throw new CliError(`${file} cannot be completed: ${(error as Error).message}`);
  }
}
