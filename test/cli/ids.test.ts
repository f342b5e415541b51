// Every command that takes an id takes the beginning of one, and names what fits when several do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { commandLine, commandsIn } from '../../release/cli-docs.ts';
import { createProgram, type ProgramDeps } from '../../src/cli/program.ts';
import { administrationOver } from '../../src/cli/remote-administration.ts';
import { CliError } from '../../src/cli/shell/exit.ts';
import { Errand as Client } from '../../src/client/client.ts';
import { startErrand } from '../support/errand.ts';
import { createOwner } from '../support/owners.ts';
import { ECHO_SOURCE } from '../support/sources/sources.ts';
import { until } from '../support/wait.ts';

/** What each group of commands is about → how its ids begin. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  workflows: 'p_',
  sources: 'dc_',
  webhooks: 'wh_',
  channels: 'ch_',
  heartbeats: 'hb_',
  accounts: 'apn_',
  owners: 'u_',
  keys: 'key_',
  'subscriptions create': 'p_',
  'subscriptions delete': 'sub_',
  runs: 'r_',
  events: 'p_',
  'errors groups': 'eg_',
  errors: '1',
  deliveries: 'dl_',
  mail: 'dl_',
  operations: 'op_',
  listen: 'wh_',
  trigger: 'p_',
  variables: 'p_',
  'data-stores': 'ds_',
};

/** Arguments that are no ids. */
const OTHER_ARGUMENTS =
  /^(path|folder|file|fixtures|shell|name|names|profile|step|kind|url|target|dir|app|key|json|event)$/;

const OPTIONS: Readonly<Record<string, string>> = {
  ...{ '--workflow': 'p_', '--source': 'dc_', '--of': 'p_', '--group': 'eg_', '--webhook': 'wh_', '--from': 'p_' },
  ...{
    '--to': 'p_',
    '--owner': 'u_',
    '--by-key': 'key_',
    '--after': '1',
    '--error': '1',
    '--deployment': 'd_',
    '--account': 'apn_',
    '--channel': 'ch_',
  },
};

/** Values of arguments behind the id. */
const BESIDE: Readonly<Record<string, string>> = { names: 'A=1', key: 'order-17', json: '{}' };

/** Options whose values are not looked up: what they name may be gone, or is in no list. */
const WHOLE = ['audit list --target', 'audit export --target', 'deliveries list --event'];

interface Case {
  readonly said: string;
  readonly args: readonly string[];
}

function beginningOf(words: string): string | undefined {
  const parts = words.split(' ');
  return BEGINNINGS[parts.slice(0, 2).join(' ')] ?? BEGINNINGS[parts[0] ?? ''];
}

const URLS = { '--authorize-url': 'https://example.com/', '--token-url': 'https://example.com/' };
const NEEDED: Readonly<Record<string, string>> = {
  '--to': '3000',
  '--since': '2h',
  '--name': 'x',
  '--config': '-',
  ...URLS,
};

/** Options of which a command needs one. */
const ONE_OF: Readonly<Record<string, readonly string[]>> = { 'errors groups edit': ['--note', 'x'] };

/** Given wherever they are known: what a command asks for otherwise. */
const GIVEN = ['--yes', '--next-deployment'];

function neededBy(command: Command, but = ''): string[] {
  const mandatory = command.options.filter(({ mandatory, long }) => mandatory && long !== but);
  const flags = command.options.flatMap(({ long }) => (long && GIVEN.includes(long) ? [long] : []));
  return [...mandatory.flatMap(({ long }) => [long ?? '', NEEDED[long ?? ''] ?? 'x']), ...flags];
}

/** `workflow`: one with two deployments. */
function casesOf(workflow: string): Case[] {
  return commandsIn(commandLine()).flatMap(({ words, command }) => {
    const ids = command.registeredArguments.filter((argument) => !OTHER_ARGUMENTS.test(argument.name()));
    const positional = ids.map((argument, n): Case => {
      const beginning = argument.name() === 'deployment_id' ? 'd_' : beginningOf(words);
      assert.ok(beginning, `${words} <${argument.name()}>: say how its ids begin`);
      const before = n > 0 ? [workflow] : [];
      const behind = n === 0 && ids.length > 1 ? [workflow] : [];
      const names = command.registeredArguments.flatMap((other) => BESIDE[other.name()] ?? []);
      const args = [
        ...words.split(' '),
        ...before,
        beginning,
        ...behind,
        ...names,
        ...neededBy(command),
        ...(ONE_OF[words] ?? []),
      ];
      return { said: `${words} <${argument.name()}>`, args };
    });
    const options = command.options
      .filter(({ flags, long }) => / <(emit_)?id>$/.test(flags) && !WHOLE.includes(`${words} ${long}`))
      .map(({ long }): Case => {
        const beginning = OPTIONS[long ?? ''];
        assert.ok(beginning, `${words} ${long}: say how its ids begin`);
        const of = long === '--deployment' ? ['--of', workflow] : [];
        const more = words === 'privacy preview' && long === '--workflow' ? ['--event', '-'] : [];
        const hide = words === 'privacy set' ? ['--clear'] : words === 'accounts connect' ? ['acme'] : [];
        const whole = ids.filter(({ required }) => required).map(() => `${beginningOf(words)}0Vj3aBc9dEfGhIjK`);
        const given = [...whole, long ?? '', beginning, ...of, ...more, ...hide, ...neededBy(command, long)];
        const args = [...words.split(' '), ...given];
        return { said: `${words} ${long}`, args };
      });
    return [...positional, ...options];
  });
}

test('every id may be its beginning, and several that fit are named', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const first = await errand.workflow("export default () => { throw new RangeError('one'); };", { name: 'One' });
  await errand.workflow("export default () => { throw new TypeError('two'); };", { name: 'Two' });
  await client.put(`/v1/workflows/${first.id}`, {
    steps: [{ namespace: 'step', code: 'export default () => { throw new RangeError("again"); };' }],
  });
  for (const name of ['a', 'b']) {
    await client.post('/v1/sources', { name, component_code: ECHO_SOURCE });
    const webhook = await client.post('/v1/webhooks', { url: `https://example.com/${name}` });
    await client.post('/v1/subscriptions', { emitter_id: first.id, listener_id: webhook.id });
    await client.post('/v1/channels', { kind: 'mail', config: { to: `${name}@example.com` } });
    await client.post('/v1/heartbeats', { name, interval_seconds: 60 });
    await client.post('/v1/accounts', { app: 'slack', name });
    await client.post('/v1/data_stores', { name });
    await client.post('/v1/keys', { label: name, scopes: ['read'] });
    await createOwner(errand, name);
    await client.post(`/v1/webhooks/${webhook.id}/resend`, { since: '2026-01-31T12:00:00Z' });
  }
  const workflows = (await client.get('/v1/workflows?limit=10')).data;
  for (const { id, name } of workflows) {
    if (name === 'Global error workflow') continue;
    await client.post(`/v1/workflows/${id}/runs`, { event: {} });
  }
  await until('two groups', async () => (await client.get('/v1/error_groups')).data.length >= 2);
  await until('two mails', async () => (await client.get('/v1/deliveries?kind=mail')).data.length >= 2);
  const at = { url: errand.url, key: client.key };
  const deps = {
    env: { ERRAND_API_KEY: client.key },
    findLocal: async () => at,
    administer: (_options, act) => act(administrationOver(new Client(at))),
  } as Partial<ProgramDeps> as ProgramDeps;
  const cases = casesOf(first.id);
  assert.ok(cases.length > 70, `${cases.length} cases`);
  for (const { said, args } of cases) {
    const ended = await createProgram(deps)
      .parseAsync([...args], { from: 'user' })
      .catch((error: unknown) => error);
    assert.ok(ended instanceof CliError, `${said}: errand ${args.join(' ')}: ${ended}`);
    assert.match(ended.message, /^"\w+" fits more than one [a-z ]+: \S+/, said);
    assert.equal(ended.exitCode, 3, said);
  }
});
