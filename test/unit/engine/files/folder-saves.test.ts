// How editors save: truncated first, in several writes, by rename, moved away first. The bundler and the store's side are the
// test's; time is, too: it passes when the test says so.

import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { WorkflowFolder } from '../../../../src/engine/files/folder.ts';
import { random } from '../../../../src/server/real-ports.ts';
import { until } from '../../../support/wait.ts';

const WHOLE = 'export default whole;\n';
const OTHER = 'export default other;\n';
const STORED_OTHER = `stored ${JSON.stringify(OTHER)}`;
const REFUSED = 'error workflow file refused: its last good deployment stays a.ts';

interface Opened extends AsyncDisposable {
  readonly file: string;
  /** What became of files, in order. */
  readonly told: readonly string[];
  toldAtStart: readonly string[];
  /** Lets time pass, and resolves when the folder was looked at after it. */
  pass(ms: number): Promise<void>;
  /** Lets time pass in the middle of a look. */
  sleep(ms: number): void;
  /** Resolves when the folder was looked at once more. */
  look(): Promise<void>;
  /** Called while a file is loaded. */
  onLoad: () => Promise<void>;
}

/** Opens a folder with one good file: what ends with a semicolon is whole, and what has no default export is a module. */
async function open(text = WHOLE): Promise<Opened> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-saves-'));
  const file = join(dir, 'a.ts');
  await writeFile(file, text);
  const told: string[] = [];
  const stored = new Map<string, string>();
  let [nowMs, probes] = [0, 0];
  const line =
    (level: string) =>
    (fields: object, name: string): void => {
      const { file: about = '' } = fields as { file?: string };
      if (!about.startsWith('probe')) told.push(`${level} ${name}${about && ` ${about}`}`);
    };
  const opened = {
    file,
    told,
    toldAtStart: [] as readonly string[],
    onLoad: async () => {},
    look: async () => {
      // Files of its own: looks follow each other, so the second one's means that the look before it has ended.
      for (const name of [`probe-${++probes}.ts`, `probe-${++probes}.ts`]) {
        await writeFile(join(dir, name), WHOLE);
        await until(`a look at ${name}`, () => stored.has(name));
      }
    },
    pass: async (ms: number) => {
      opened.sleep(ms);
      await opened.look();
    },
    sleep: (ms: number) => {
      nowMs += ms;
    },
    [Symbol.asyncDispose]: async () => {
      await folder.stop();
      await rm(dir, { recursive: true });
    },
  };
  const folder = new WorkflowFolder({
    dir,
    packagesDir: null,
    ownerId: async () => 'u_1',
    random,
    nowMs: () => nowMs,
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
    tellBroken: async ({ key }) => void told.push(`mail about ${key}`),
    prepareBundling: () => {},
    bundleFile: async ({ path }) => {
      const bundle = await readFile(join(dir, path), 'utf8').catch(() => '');
      const inputs = [join(dir, path)];
      if (!bundle.includes('export default')) return { kind: 'module', inputs, definesWorkflow: false };
      if (bundle.endsWith(';\n')) return { kind: 'workflow', bundle, sourceMap: '', inputs, usesSdk: true };
      return { kind: 'broken', problems: [{ file: path, line: 1, column: 1, text: 'unexpected end' }] };
    },
    deployer: {
      listFiles: async () => [],
      deployFile: async () => assert.fail('files of a folder may change meanwhile'),
      deployIf: async (_owner, { key, bundle }, isStill) => {
        const at = { workflowId: `p_${key}`, deploymentId: 'd_1', name: key };
        if (stored.get(key) === bundle) return { kind: 'same', ...at };
        await opened.onLoad();
        if (!(await isStill())) return null;
        stored.set(key, bundle);
        if (!key.startsWith('probe')) told.push(`stored ${JSON.stringify(bundle)}`);
        return { kind: 'changed', ...at };
      },
      removeFile: async () => true,
    },
  });
  await folder.start();
  opened.toldAtStart = told.splice(0);
  return opened;
}

test('a file that is truncated first is not told', async () => {
  await using folder = await open();
  await writeFile(folder.file, '');
  await folder.look();
  await folder.pass(1900);
  assert.deepEqual(folder.told, []);
  await writeFile(folder.file, OTHER);
  await folder.pass(5000);
  assert.deepEqual(folder.told, [STORED_OTHER, 'info workflow file deployed a.ts']);
});

test('a file in several writes is deployed whole', async () => {
  await using folder = await open();
  await writeFile(folder.file, 'expo');
  await folder.pass(300);
  await appendFile(folder.file, 'rt default ot');
  await folder.pass(300);
  await appendFile(folder.file, 'he');
  await folder.pass(300);
  await appendFile(folder.file, 'r;\n');
  await folder.pass(5000);
  assert.deepEqual(folder.told, [STORED_OTHER, 'info workflow file deployed a.ts']);
});

test('a file that changes while it is loaded is not deployed as it was', async () => {
  await using folder = await open();
  let loads = 0;
  folder.onLoad = async () => {
    if (++loads === 1) await writeFile(folder.file, OTHER);
  };
  await writeFile(folder.file, 'export default half;\n');
  await until('the other text', () => folder.told.length > 0);
  await folder.look();
  assert.deepEqual(folder.told, [STORED_OTHER, 'info workflow file deployed a.ts']);
});

test('a file that is moved away before it is written stays', async () => {
  await using folder = await open();
  await rename(folder.file, `${folder.file}~`);
  await folder.look();
  await folder.pass(200);
  await writeFile(folder.file, OTHER);
  await folder.pass(5000);
  assert.deepEqual(folder.told, [STORED_OTHER, 'info workflow file deployed a.ts']);
  await rm(folder.file);
  await folder.look();
  await folder.pass(300);
  assert.deepEqual(folder.told.slice(2), ['info workflow file was deleted: its workflow is disabled a.ts']);
});

test('a file that is back before a long look has ended stays', async () => {
  await using folder = await open();
  await rename(folder.file, `${folder.file}~`);
  await folder.look();
  folder.onLoad = async () => {
    folder.onLoad = async () => {};
    await rename(`${folder.file}~`, folder.file);
    folder.sleep(5000);
  };
  await folder.look();
  await folder.look();
  assert.deepEqual(folder.told, []);
});

test('a file that another one replaces is deployed once', async () => {
  await using folder = await open();
  // As JetBrains' safe write has it.
  await writeFile(`${folder.file}___jb_tmp___`, OTHER);
  await rename(folder.file, `${folder.file}___jb_old___`);
  await rename(`${folder.file}___jb_tmp___`, folder.file);
  await rm(`${folder.file}___jb_old___`);
  await folder.pass(5000);
  assert.deepEqual(folder.told, [STORED_OTHER, 'info workflow file deployed a.ts']);
});

test('a problem that lasts is told, and that it is over', async () => {
  await using folder = await open();
  await writeFile(folder.file, 'export default ot');
  await folder.look();
  assert.deepEqual(folder.told, []);
  await folder.pass(400);
  assert.deepEqual(folder.told, [REFUSED, 'mail about a.ts']);
  await writeFile(folder.file, WHOLE);
  await folder.look();
  assert.deepEqual(folder.told.slice(2), ['info workflow file is right again a.ts']);
  await writeFile(folder.file, '');
  await folder.look();
  await folder.pass(2000);
  assert.deepEqual(folder.told.slice(3), [REFUSED, 'mail about a.ts']);
});

test('what is wrong at the start is told at once', async () => {
  await using folder = await open('export default ot');
  assert.deepEqual(folder.toldAtStart, ['error workflow file refused a.ts', 'mail about a.ts']);
});
