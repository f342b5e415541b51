// Wrong usage of every command: it ends with its own exit code, says what would be right, and asks no server.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Command, CommanderError } from 'commander';
import { commandsIn } from '../../../release/cli-docs.ts';
import { createProgram, type ProgramDeps } from '../../../src/cli/program.ts';
import { EXIT, exitCodeOf } from '../../../src/cli/shell/exit.ts';
import { MEANT, withHelp } from '../../../src/cli/shell/suggest.ts';
import { startErrand } from '../../support/errand.ts';
import { until } from '../../support/wait.ts';
import { openShell } from '../command.ts';

interface Ended {
  readonly code: number;
  readonly said: string;
}

/** Returns the command line, in which whatever asks a server, a store or a file of code throws. */
function commandLine(said: string[]): Command {
  const ask = (): never => {
    throw new Error('a server was asked');
  };
  const deploying = { connect: ask, list: ask, bundle: ask, complain: ask };
  const deps = {
    env: { ERRAND_API_KEY: 'k'.repeat(24) },
    usersUmask: 0o022,
    deploying,
    ...{ administer: ask, findLocal: ask, start: ask, store: ask, checking: ask, explain: ask, redact: ask, mails: {} },
  };
  const program = createProgram(deps as unknown as ProgramDeps);
  const quiet = (command: Command): void => {
    command
      .exitOverride()
      .configureOutput({ writeErr: (text) => said.push(text), writeOut: (text) => said.push(text) });
    command.commands.forEach(quiet);
  };
  quiet(program);
  return program;
}

/** Runs a command line in this process. */
async function run(args: readonly string[]): Promise<Ended> {
  const said: string[] = [];
  try {
    const line = commandLine(said);
    await line.parseAsync(withHelp(line, args), { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError)
      return { code: error.exitCode === 0 ? EXIT.done : EXIT.usage, said: said.join('') };
    return { code: exitCodeOf(error), said: (error as Error).message };
  }
  return { code: EXIT.done, said: said.join('') };
}

const all = () => commandsIn(commandLine([]));

/** Arguments that a command needs. */
function argumentsOf(command: Command): string[] {
  return command.registeredArguments
    .filter(({ required }) => required)
    .map(({ argChoices }) => argChoices?.[0] ?? 'x_1');
}

/** Options that a command needs, without `except`. */
function neededBy(command: Command, except?: string): string[] {
  const needed = command.options.filter(({ mandatory, long }) => mandatory && long !== except);
  return needed.flatMap(({ long, flags }) => [long ?? '', GOOD[placeOf(flags)] ?? 'x']);
}

const placeOf = (flags: string): string => /<[^>]*>/.exec(flags)?.[0] ?? '';

const GOOD: Readonly<Record<string, string>> = { '<time>': '2h', '<port>': '3000', '<url>': 'https://example.com' };

/** What no option with such a value takes, and what is said then. */
const WRONG: Readonly<Record<string, readonly (readonly [value: string, said: RegExp])[]>> = {
  '<n>': [
    ['many', /whole number|none/],
    ['-1', /whole number|none|argument missing/],
    ['1.5', /whole number|none/],
    ['99999999999999999999', /whole number|none/],
  ],
  '<seconds>': [
    ['many', /whole number/],
    ['1e3', /whole number/],
  ],
  '<time>': [
    ['yesterday', /2026-01-31|2027-01-31|is no time/],
    ['2026-13-45', /2026-01-31|2027-01-31|is no time/],
    ['', /2026-01-31|2027-01-31|is no time/],
  ],
  '<state>': [['bogus', /Allowed choices are/]],
  '<states>': [['failed,bogus', /exhausted, /]],
  '<kind>': [['bogus', /Allowed choices are/]],
  '<outcome>': [['bogus', /Allowed choices are under_way/]],
  '<what>': [['bogus', /Allowed choices are subscription, trigger/]],
  '<step>': [['charge', /Allowed choices are first_step, failed_step/]],
  '<by>': [['bogus', /Allowed choices are last_seen, count/]],
  '<list>': [['read,bogus', /none of ingest, read, write/]],
  '<port>': [['bogus', /whole number|neither a port/]],
  '<url>': [
    ['bogus', /is like https:/],
    ['ftp://example.com', /is like https:/],
  ],
  '<how>': [['bogus', /Allowed choices are body, basic/]],
  '<pair>': [['=x', /is like access_type=offline/]],
  '<json>': [['{"a":', /JSON/]],
  '<event>': [['last', /is the id of an event/]],
};

/** Any text may be one of these; and files and folders are looked for. */
const ANY_TEXT = [
  ...[
    '<address>',
    '<app>',
    '<code>',
    '<deployment_id>',
    '<dir>',
    '<emit_id>',
    '<expression>',
    '<expressions...>',
    '<file>',
  ],
  ...[
    '<folder>',
    '<id>',
    '<key>',
    '<name>',
    '<names...>',
    '<secret>',
    '<secret...>',
    '<scopes>',
    '<text>',
    '<value>',
    '<zone>',
  ],
];

test('an unknown option is a wrong command line everywhere', async () => {
  for (const { words, command } of all()) {
    const given = [...words.split(' '), ...argumentsOf(command), ...neededBy(command), '--zzqq'];
    const { code, said } = await run(given);
    assert.deepEqual([words, code], [words, EXIT.usage]);
    assert.match(said, /unknown option '--zzqq'/, words);
  }
});

test('a missing argument is, and one too many', async () => {
  let seen = 0;
  for (const { words, command } of all()) {
    const needed = argumentsOf(command);
    if (needed.length > 0) {
      const { code, said } = await run(words.split(' '));
      assert.deepEqual([words, code], [words, EXIT.usage]);
      assert.match(said, /missing required argument|required option/, words);
      seen += 1;
    }
    const { registeredArguments } = command;
    if (registeredArguments.some(({ variadic }) => variadic)) continue;
    const most = registeredArguments.map(({ argChoices }) => argChoices?.[0] ?? 'bash');
    const { code, said } = await run([...words.split(' '), ...most, 'zzqq', ...neededBy(command)]);
    assert.deepEqual([words, code], [words, EXIT.usage]);
    assert.match(said, /too many arguments/, words);
  }
  assert.ok(seen > 40, `${seen} commands`);
});

test('a missing value of an option is', async () => {
  for (const { words, command } of all()) {
    for (const { long, flags } of command.options) {
      if (placeOf(flags) === '') continue;
      const { code, said } = await run([...words.split(' '), ...argumentsOf(command), long ?? '']);
      assert.deepEqual([words, long, code], [words, long, EXIT.usage]);
      assert.match(said, /argument missing/, `${words} ${long}`);
    }
  }
});

test('a value that cannot be is, and what can be is told', async () => {
  let seen = 0;
  for (const { words, command } of all()) {
    for (const { long, flags } of command.options) {
      const value = placeOf(flags);
      // Addresses of databases, and settings of a start, are judged by the server's own rules.
      if (value === '' || ANY_TEXT.includes(value) || words === 'store move') continue;
      const wrong = WRONG[value];
      assert.ok(wrong, `errand ${words} ${flags}: say in this test which values it does not take`);
      for (const [text, expected] of wrong) {
        const given = [...words.split(' '), ...argumentsOf(command), ...neededBy(command, long), `${long}=${text}`];
        const { code, said } = await run(given);
        assert.deepEqual([words, long, text, code], [words, long, text, EXIT.usage], said);
        assert.match(said, expected, `${words} ${long}`);
        seen += 1;
      }
    }
  }
  assert.ok(seen > 200, `${seen} values`);
});

test('an argument of a few words is one of them', async () => {
  for (const given of [
    ['channels', 'create', 'bogus', '--config', 'x'],
    ['channels', 'create', 'email'],
    ['completion', 'tcsh'],
  ]) {
    const { code, said } = await run(given);
    assert.equal(code, EXIT.usage, given.join(' '));
    assert.match(said, /slack, discord|bash, zsh or fish/);
  }
});

test('what is not there is told by its code', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const named = ['--url', errand.url];
  for (const args of [
    ['deploy', '/nonexistent/x', ...named],
    ['dev', '/nonexistent/x'],
    ['import', '/nonexistent/x', ...named],
    ['components', 'check', '/nonexistent/x'],
    ['mcp', '--dir', '/nonexistent/x', ...named],
    ['owners', 'list'],
    ['keys', 'list'],
    ['audit', 'list'],
    ['workflows', 'show', 'p_1111111111111111', ...named],
    ['errors', 'show', '1-1', ...named],
  ]) {
    const { code, stderr } = await shell.run(args);
    assert.equal(code, EXIT.notFound, `${args.join(' ')}: ${stderr}`);
  }
  const none = await shell.run(['operations', 'show', 'last', ...named]);
  assert.deepEqual([none.code, none.stderr], [EXIT.notFound, 'errand: there is no operation yet\n']);
});

test('what the server refuses as malformed is a wrong command line', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  const made = await shell.run(['webhooks', 'create', 'ftp://example.com', '--url', errand.url]);
  assert.equal(made.code, EXIT.usage, made.stderr);
  assert.match(made.stderr, /ftp:/);
});

test('a start with a wrong option is a wrong command line', async () => {
  await using shell = await openShell(null);
  const { code, stderr } = await shell.run(['start', '--port', 'abc']);
  assert.equal(code, EXIT.usage);
  assert.match(stderr, /^errand: ERRAND_PORT: "abc" is not an integer from 0 to 65535\n/);
});

test('a channel without its configuration is told what that is', async () => {
  const { code, said } = await run(['channels', 'create', 'mail']);
  assert.equal(code, EXIT.usage);
  assert.match(said, /needs --config: .*"to": "ops@example.com"/);
});

test('a word that is a command elsewhere is told where', async () => {
  for (const [given, expected] of [
    [['replay'], '"errand errors replay"'],
    [['logs'], '"errand runs tail" or "errand sources logs"'],
    [['secrets'], '"errand variables"'],
    [['workflows', 'tail'], '"errand errors tail" or "errand runs tail" or "errand events tail"'],
    [['errors', 'lst'], 'list'],
    [['deply'], 'deploy'],
  ] as const) {
    const { code, said } = await run(given);
    assert.equal(code, EXIT.usage);
    assert.ok(said.includes(`(Did you mean ${expected}?)`), said);
  }
  const commands = new Set(all().flatMap(({ words }) => words.split(' ')));
  for (const words of Object.values(MEANT).flat())
    for (const word of words.split(' ').slice(1)) assert.ok(commands.has(word) || word === '--version', words);
});

test('help is of the command that is named, at any depth', async () => {
  for (const { words } of all()) {
    const names = words.split(' ');
    const { code, said } = await run([...names, '--help']);
    assert.deepEqual([code, said.startsWith(`Usage: errand ${words}`)], [EXIT.done, true], said);
    assert.deepEqual(await run(['help', ...names]), { code, said });
    if (names.length > 1) assert.deepEqual(await run([names[0] ?? '', 'help', ...names.slice(1)]), { code, said });
  }
  const whole = await run(['--help']);
  for (const args of [['help'], ['help', '--help']]) assert.deepEqual(await run(args), whole);
  for (const args of [
    ['help', 'nope'],
    ['nope', '--help'],
    ['help', 'errors', 'nope'],
    ['errors', 'help', 'nope'],
    ['errors', 'nope', '-h'],
  ]) {
    const { code, said } = await run(args);
    assert.equal(code, EXIT.usage, said);
    assert.match(said, /^error: unknown command 'nope'/);
  }
});

test('data is given as with curl, and sent as it is', async () => {
  await using errand = await startErrand();
  await using shell = await openShell(errand.client);
  await errand.workflow('export default ({ steps }) => { throw new Error("no"); };', {
    name: 'Orders',
    triggers: [{ type: 'http' }],
    settings: { notify: false },
  });
  const text = '{"order": 12345678901234567890}';
  await writeFile(join(shell.home, 'order.json'), `\ufeff${text}`);
  const seen = async (input: string | undefined, ...args: string[]): Promise<void> => {
    const before = (await shell.json('errors', 'list')).length;
    const given = await shell.run([...args, '--url', errand.url], input === undefined ? {} : { input });
    assert.equal(given.code, 0, given.stderr);
    await until('its error', async () => (await shell.json('errors', 'list')).length > before);
    const { stdout } = await shell.run(['errors', 'show', 'last', '--event', '--url', errand.url]);
    assert.ok(stdout.includes(text), stdout);
    for (const more of [[], ['--json']]) {
      const whole = await shell.run(['errors', 'show', 'last', ...more, '--url', errand.url]);
      assert.match(whole.stdout, /"order": 12345678901234567890/);
    }
  };
  for (const data of ['@order.json', text]) await seen(undefined, 'trigger', 'Orders', '--data', data);
  for (const data of ['-', '@-']) await seen(text, 'trigger', 'Orders', '--data', data);
  await seen(undefined, 'trigger', 'Orders', '--event', 'order.json');
  await seen(undefined, 'workflows', 'run', 'Orders', '--data', '@order.json');
  await seen(undefined, 'errors', 'replay', 'last', '--event', 'order.json');
  const run = await shell.run(['runs', 'show', 'last', '--json', '--url', errand.url]);
  assert.match(run.stdout, /"order": 12345678901234567890/);
  const wrong = await shell.run(['trigger', 'Orders', '--data', '@none.json', '--url', errand.url]);
  assert.equal(wrong.code, EXIT.usage);
  assert.match(wrong.stderr, /none\.json cannot be read/);
});
