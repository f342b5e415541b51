// The examples that `--help` prints, each typed into a shell as it stands there: only ids, keys and the address of a server are
// replaced by those of what is there.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { commandLine, commandsIn } from '../../../release/cli-docs.ts';
import { examplesOf } from '../../../src/cli/shell/examples.ts';
import { BARE_ENV } from '../../support/bare-env.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { until } from '../../support/wait.ts';
import type { Result } from '../command.ts';
import { emitted, idsFor, makeHistory, makeNamed, PLAIN_CODE, WORKFLOW_FILE, writeFiles } from './world.ts';

const ENTRY = join(import.meta.dirname, '../../../src/errand.ts');

/** What cannot run here → why, and what stands in for it. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'errand accounts connect google_sheets --authorize-url https://accounts.google.com/o/oauth2/v2/auth --token-url https://oauth2.googleapis.com/token --client-id 1234.apps.googleusercontent.com --scope https://www.googleapis.com/auth/spreadsheets --param access_type=offline --param prompt=consent':
    'it needs an account of that service; usage/accounts.test.ts signs in at a server of its own',
  'errand start --port 8080 --data-dir /var/lib/errand':
    'the port and the folder may be another server’s; program.test.ts gives each setting as an option',
  'ERRAND_DATABASE_URL=postgres://errand@localhost/errand errand store check':
    'the database may be another server’s; store.test.ts checks one of its own',
  'errand store move --to postgres://errand@localhost/errand':
    'the database may be another server’s; unit/store/move has one of its own',
  'errand store move --json > moved.json': 'it needs a database; unit/store/move/move.test.ts has one',
  'errand store move --undo': 'it needs a store that was moved; unit/store/move/move.test.ts has one',
  'source <(errand completion zsh)': 'it is for zsh; completion.test.ts runs it where there is one',
  'errand components check shop --url https://errand.example.com':
    'it needs a server with a folder of components; flows/components/check.test.ts has one',
  'claude mcp add errand -- npx errand mcp --profile prod': 'it is a command of another program',
};

/** Commands that end with another code here → that code (null: 0 or 1, as the network is), and what they say. */
const CODES: Readonly<Record<string, readonly [code: number | null, said: RegExp]>> = {
  'errand explain-url https://example.com/hooks': [null, /^name example\.com: /m],
  // A server ends in order.
  'errand start': [0, /"msg":"stopping"/],
  'errand accounts renew "Team chat"': [1, /was not renewed: the token server cannot be reached/],
  'errand webhooks test "Errors to chat"': [1, /ECONNREFUSED|refused/],
  'errand webhooks explain-signature --headers headers.txt --body body.json --secret whsec_…': [2, /--secret/],
  'errand errors replay --of "Charge orders" --from failed_step --canary 3': [2, /no terminal can be asked/],
  'errand owners delete Shop': [2, /no terminal can be asked; add --yes/],
  // What it replayed failed again.
  'errand operations follow last': [1, /^failed_same +1$/m],
  // Each run of this workflow and of this source fails.
  'errand sources run "Orders feed" --wait': [1, /^state +failed$/m],
  'errand errors replay last --wait': [1, /^state +failed$/m],
  'errand runs retry last --wait': [1, /^state +failed$/m],
  'errand workflows run "Charge orders" --event event.json --wait': [1, /^state +failed$/m],
  'errand explain-url http://10.0.0.7/hook --profile prod': [1, /refused/],
  'errand explain-url http://10.0.0.7/hook --local': [1, /refused/],
};

/** Goes on until Ctrl-C → what is printed when it works. */
const ENDLESS: Readonly<Record<string, RegExp>> = {
  start: /listens on/,
  dev: /is deployed with every save/,
  'errors tail': /no card/,
  'events tail': /"order": ?7/,
  'runs tail': /failed/,
  listen: /Ctrl-C ends it/,
  mcp: /tools for/,
};

interface Example {
  readonly words: string;
  readonly line: string;
}

/** `TEST_EXAMPLES`: only those that match, while a command is written. */
const ALL: readonly Example[] = commandsIn(commandLine()).flatMap(({ words, command }) =>
  examplesOf(command).map((line) => ({ words, line })),
);
const OF_STORE = /^(store|verify)/;
/** They come last: what they take away, others show. */
const TAKES_AWAY = /delete|revoke|disable|rotate|rekey|logout|--clear|--prune/;
const wanted = new RegExp(process.env.TEST_EXAMPLES ?? '');

function examples(isOfStore: boolean): Example[] {
  const chosen = ALL.filter(({ words, line }) => OF_STORE.test(words) === isOfStore && wanted.test(line));
  return [
    ...chosen.filter(({ line }) => !TAKES_AWAY.test(line)),
    ...chosen.filter(({ line }) => TAKES_AWAY.test(line)),
  ];
}

interface Shell {
  readonly home: string;
  readonly env: Record<string, string>;
}

/** Makes a folder with the files that examples name, and `errand` on the path. */
async function openShell(t: TestContext, env: Record<string, string>): Promise<Shell> {
  const home = await mkdtemp(join(tmpdir(), 'errand-examples-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  await writeFiles(home);
  await mkdir(join(home, 'bin'));
  await writeFile(join(home, 'bin/errand'), `#!/bin/sh\nexec '${process.execPath}' '${ENTRY}' "$@"\n`, { mode: 0o755 });
  const path = `${join(home, 'bin')}:${BARE_ENV.PATH}`;
  return { home, env: { ...BARE_ENV, HOME: home, NO_COLOR: '1', ERRAND_CODE_USER: 'server', ...env, PATH: path } };
}

interface Typed extends Example {
  /** Its standard input. */
  readonly input?: string;
  readonly env?: Record<string, string>;
  /** Called again and again while a command goes on that does not end by itself. */
  readonly again?: () => Promise<unknown>;
}

/** Types a line, and Ctrl-C once a command works that goes on. */
async function type({ home, env }: Shell, { words, line, input = '', env: more, again }: Typed): Promise<Result> {
  // A group of its own, as a shell makes one: Ctrl-C is for all of a pipe.
  const child = spawn('bash', ['-c', `set -o pipefail; ${line}`], {
    cwd: home,
    env: { ...env, ...more },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (part) => {
    stdout += part;
  });
  child.stderr.on('data', (part) => {
    stderr += part;
  });
  const ended = new Promise<Result>((resolve) => {
    child.on('close', (code, signal) => resolve({ code: signal === 'SIGINT' ? 130 : code, stdout, stderr }));
  });
  child.stdin.on('error', () => undefined);
  const working = ENDLESS[words];
  if (working === undefined) child.stdin.end(input);
  else {
    const group = -(child.pid as number);
    const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
    try {
      await until(`${line} to work`, async () => {
        await again?.();
        return isOver() || working.test(stdout + stderr);
      });
      if (!isOver()) process.kill(group, 'SIGINT');
    } catch (error) {
      process.kill(group, 'SIGKILL');
      throw error;
    }
  }
  return ended;
}

/** Returns what is wrong with an end: one wrong example hides no other. */
function endedOtherwise(example: Example, result: Result): string[] {
  try {
    assertEnded(example, result);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

function assertEnded({ words, line }: Example, { code, stdout, stderr }: Result): void {
  const said = `${line}\n${stdout}${stderr}`;
  const [wantedCode, saying] = CODES[line] ?? [words in ENDLESS ? 130 : 0, null];
  if (wantedCode === null) assert.ok(code === 0 || code === 1, said);
  else assert.equal(code, wantedCode, said);
  if (saying !== null) assert.match(stdout + stderr, saying, said);
  assert.doesNotMatch(stderr, /^\s+at .+:\d+:\d+\)?$/m, `a stack: ${said}`);
  const isJson = line.includes(' --json') && !/[|>]/.test(line) && !(words in ENDLESS);
  if (isJson) JSON.parse(stdout);
}

/** Lets the commands of a folder find a server that runs in this process. */
async function announce({ home }: Shell, errand: Errand): Promise<void> {
  await mkdir(join(home, 'data'));
  await writeFile(join(home, 'data/running.json'), JSON.stringify({ pid: process.pid, url: errand.url }));
  await writeFile(join(home, 'key.txt'), `${errand.client.key}\n`, { mode: 0o600 });
}

async function withProfile({ home }: Shell, { url, client: { key } }: Errand): Promise<void> {
  const folder = join(home, '.config/errand');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ current: 'prod', profiles: { prod: { url, key } } });
  await writeFile(join(folder, 'profiles.json'), text, { mode: 0o600 });
}

test('each example of a command that asks a server runs', { timeout: 1_800_000 }, async (t) => {
  await using errand = await startErrand();
  const shell = await openShell(t, { ERRAND_API_KEY: errand.client.key });
  await announce(shell, errand);
  await makeHistory(errand);
  const wrong: string[] = [];
  for (const { words, line } of examples(false)) {
    if (line in NOT_RUN) continue;
    if (/prod/.test(line)) await withProfile(shell, errand);
    await makeNamed(errand, line);
    const isOwn = words === 'start' || words === 'dev';
    await writeFile(join(shell.home, 'workflows/charge-orders.ts'), words === 'test' ? PLAIN_CODE : WORKFLOW_FILE);
    const ids = await idsFor(errand, line);
    // What jq writes into a pipe, it keeps for long.
    const now = words in ENDLESS ? line.replace('| jq', '| jq --unbuffered') : line;
    let typed = now.replaceAll('https://errand.example.com', errand.url);
    for (const [shown, id] of ids) typed = typed.replaceAll(shown, id);
    const happens = words === 'events tail' ? emitted : () => idsFor(errand, 'r_g4w9zl7uo0');
    const again = /tail/.test(words) ? () => happens(errand) : undefined;
    const env: Record<string, string> = isOwn
      ? { ERRAND_PORT: '0', ERRAND_DATA_DIR: join(shell.home, `data-of-${words}`) }
      : {};
    const ended = await type(shell, { words, line: typed, input: errand.client.key, env, again });
    wrong.push(...endedOtherwise({ words, line }, ended));
  }
  assert.deepEqual(wrong, []);
});

test('each example of a command of the store runs', { timeout: 600_000 }, async (t) => {
  const errand = await startErrand();
  t.after(() => errand[Symbol.asyncDispose]());
  await makeHistory(errand);
  await errand.stop();
  const shell = await openShell(t, { ...errand.settings });
  await rm(join(shell.home, 'salvaged'), { recursive: true, force: true });
  const wrong: string[] = [];
  for (const { words, line } of examples(true)) {
    if (line in NOT_RUN) continue;
    if (/salvage/.test(line)) await rm(join(shell.home, 'salvaged'), { recursive: true, force: true });
    // It is in the folder where the command is called.
    const typed = line.replace('salvage ./data', `salvage ${errand.dataDir}`);
    // The last one of both that change the key.
    const env: Record<string, string> = line.startsWith('openssl') ? { ERRAND_SECRET_KEY: 'k'.repeat(40) } : {};
    wrong.push(...endedOtherwise({ words, line }, await type(shell, { words, line: typed, env })));
  }
  assert.deepEqual(wrong, []);
});

test('what does not run is an example, with a reason', () => {
  const lines = ALL.map(({ line }) => line);
  for (const [line, reason] of Object.entries(NOT_RUN)) {
    assert.ok(lines.includes(line), `no command has the example ${line}`);
    assert.ok(reason.length > 20, line);
  }
  for (const line of Object.keys(CODES)) assert.ok(lines.includes(line), `no command has the example ${line}`);
  for (const words of Object.keys(ENDLESS))
    assert.ok(
      ALL.some((one) => one.words === words),
      words,
    );
  assert.ok(Object.keys(NOT_RUN).length * 10 < lines.length, 'most of them run');
});
