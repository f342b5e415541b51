// What a server, or a proxy before it, refuses: every command that asks one ends with the exit code that the document names.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { commandsIn } from '../../../release/cli-docs.ts';
import { createProgram, type ProgramDeps } from '../../../src/cli/program.ts';
import { administrationOver } from '../../../src/cli/remote-administration.ts';
import { EXIT, type ExitCode, exitCodeOf } from '../../../src/cli/shell/exit.ts';
import { createConnect } from '../../../src/cli/shell/remote.ts';
import { Errand } from '../../../src/client/client.ts';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const problem = (status: number): Answer => ({
  status,
  type: 'application/problem+json',
  body: JSON.stringify({ type: '/docs/errors#x', title: 'x', status, detail: `refused with ${status}` }),
});
const page = (status: number): Answer => ({ status, type: 'text/html', body: '<html><h1>Bad</h1></html>' });

/** What is answered → how the command ends. */
const ENDS: readonly (readonly [Answer, ExitCode])[] = [
  [problem(400), EXIT.usage],
  [page(401), EXIT.denied],
  [problem(403), EXIT.denied],
  [problem(404), EXIT.notFound],
  [problem(409), EXIT.failed],
  [problem(429), EXIT.failed],
  [problem(500), EXIT.failed],
  [page(502), EXIT.unreachable],
  [{ status: 200, type: 'text/html', body: '<html></html>' }, EXIT.unreachable],
];

/** What is wrong with one file of several ends a deployment with 1, whatever the server says of it. */
const OF_A_FILE = { command: 'deploy', codes: [EXIT.usage, EXIT.notFound] as readonly ExitCode[] } as const;

/** Tell what they find as their result, go on until Ctrl-C, or print nothing where there is no answer. */
const OTHERS = [
  ...['accounts connect', 'completion', 'doctor', 'errors tail', 'events tail', 'listen', 'mcp', 'runs tail', 'login'],
];

async function startStub(): Promise<{ url: string; answer: (given: Answer) => void } & AsyncDisposable> {
  let given = problem(500);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(given.status, { 'content-type': given.type }).end(given.body);
  });
  // A connection that is closed while a request is sent on it would be "unreachable".
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answer: (next) => {
      given = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function commandLine(url: string): Command {
  const at = { url, key: 'k'.repeat(24) };
  const of = { env: { ERRAND_API_KEY: at.key }, findLocal: async () => at, whyHidden: () => null };
  const connect = createConnect(of);
  const deps = {
    ...of,
    administer: (_options, act) => act(administrationOver(new Errand({ ...at, retries: 0 }))),
    checking: (_of, act) => act((after) => new Errand(at).checkComponents({ component_path: '.', after: after ?? '' })),
    deploying: {
      connect,
      list: async () => ['a.mjs'],
      bundle: async () => ({ kind: 'workflow', bundle: 'export default {}', sourceMap: '{}' }),
      idsOf: async () => ({ workflow: 'p_1', source: 'dc_1' }),
      complain: () => undefined,
    },
  } as Partial<ProgramDeps> as ProgramDeps;
  const program = createProgram(deps);
  const quiet = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
    command.commands.forEach(quiet);
  };
  quiet(program);
  return program;
}

/** Values of arguments and options that need one, by what is named. */
function valuesIn(folder: string): Readonly<Record<string, string>> {
  return {
    ...{ file: join(folder, 'event.json'), folder: join(folder, 'project'), path: join(folder, 'a.mjs') },
    ...{ time: '2h', port: '3000', target: 'https://example.com', url: 'https://example.com', id: 'x', json: '{}' },
  };
}

/** Returns a whole command line for a command; it may need one of several options. */
function lineOf({ words, command }: { words: string; command: Command }, folder: string): string[] {
  const values = valuesIn(folder);
  const given = command.registeredArguments
    .filter(({ required }) => required)
    .map((one) => one.argChoices?.at(-1) ?? values[one.name()] ?? 'x_1');
  const options = command.options
    .filter(({ mandatory }) => mandatory)
    .flatMap(({ long, flags }) => [long ?? '', values[/<(\w+)/.exec(flags)?.[1] ?? ''] ?? 'x']);
  const sure = command.options.some(({ long }) => long === '--yes') ? ['--yes'] : [];
  const more = words === 'channels create' ? ['--config', values.file ?? ''] : (MORE[words] ?? []);
  return [...words.split(' '), ...given, ...options, ...sure, ...more];
}

/** Options of which a command needs one. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  'errors replay': ['--of', 'x'],
  'errors groups mute': ['--errors', '1'],
  'errors groups edit': ['--note', 'x'],
  'heartbeats create': ['--every', '60'],
  'privacy set': ['--hide', 'card'],
  'privacy preview': ['--error', 'last'],
};

async function makeFiles(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'errand-refusals-'));
  await writeFile(join(folder, 'event.json'), '{}');
  await writeFile(join(folder, 'a.mjs'), 'export default {}');
  await mkdir(join(folder, 'project/orders'), { recursive: true });
  await writeFile(join(folder, 'project/orders/workflow.yaml'), 'name: Orders\nsteps: []\n');
  return folder;
}

test('what is refused ends every command with the code that the document names', async () => {
  await using stub = await startStub();
  const folder = await makeFiles();
  const all = commandsIn(commandLine(stub.url)).filter(
    ({ words, command }) => command.options.some(({ long }) => long === '--url') && !OTHERS.includes(words),
  );
  assert.ok(all.length > 60, `${all.length} commands`);
  const codeBefore = process.exitCode;
  for (const [answer, expected] of ENDS) {
    stub.answer(answer);
    // One that ends without an error says by the code of the process how it ended.
    const ended = await Promise.all(
      all.map(async (one) => {
        const line = lineOf(one, folder);
        try {
          await commandLine(stub.url).parseAsync(line, { from: 'user' });
          return [one.words, process.exitCode];
        } catch (error) {
          return [one.words, exitCodeOf(error)];
        }
      }),
    );
    process.exitCode = codeBefore;
    const wrong = ended.filter(([words, code]) => {
      const isOfFile = words === OF_A_FILE.command && OF_A_FILE.codes.includes(expected);
      return code !== (isOfFile ? EXIT.failed : expected);
    });
    assert.deepEqual(wrong, [], `${answer.status} ${answer.type}`);
  }
  await rm(folder, { recursive: true });
});
