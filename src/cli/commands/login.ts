// errand login | logout | profiles | whoami

import type { Command } from 'commander';
import { Errand } from '../../client/client.ts';
import { ask, askSecret } from '../shell/ask.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { createOutput, printFields, printJson, printTable } from '../shell/output.ts';
import { checkName, profileNamed, profilesFile, readProfiles, writeProfiles } from '../shell/profiles.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { serverValue } from '../shell/values.ts';

const DEFAULT_NAME = 'default';

interface LoginOptions {
  readonly url?: string;
  readonly profile: string;
}

export function addLogin(program: Command, connect: Connect): void {
  const login = program
    .command('login')
    .description('save the address and key of a server as a profile, and make it the current one')
    .option('--url <url>', 'address of the server; default: ask for it', serverValue)
    .option('--profile <name>', 'name of the profile', DEFAULT_NAME);
  withExamples(
    login,
    'errand login --url https://errand.example.com',
    'errand login --url https://errand.example.com --profile prod < key.txt',
  );
  login.action(async ({ url: given, profile }: LoginOptions) => {
    const out = createOutput();
    const name = checkName(profile);
    if (given === undefined && !process.stdin.isTTY)
      throw new CliError('name the server with --url: the key is read from standard input', EXIT.usage);
    const url = (given ?? (await ask('Address of the server: '))).replace(/\/+$/, '');
    const key = await askSecret('API key: ');
    if (key === '')
      throw new CliError(
        'no API key was given: paste it, or pipe it in, as in "errand login --url … < key.txt"',
        EXIT.usage,
      );
    const { data: me } = await clientOf(url, key).getMe();
    const all = await readProfiles();
    await writeProfiles({ current: name, profiles: { ...all.profiles, [name]: { url, key } } });
    await printFields(out, { profile: name, server: url, owner: `${me.name} (${me.id})`, file: profilesFile() });
  });
  program
    .command('logout [profile]')
    .description('delete a profile and its key; default: the current one')
    .action(async (given: string | undefined) => {
      const all = await readProfiles();
      const name = given ?? all.current;
      if (name === null) throw new CliError('there is no current profile', EXIT.notFound);
      profileNamed(all, name);
      const { [name]: _, ...profiles } = all.profiles;
      await writeProfiles({ current: all.current === name ? null : all.current, profiles });
      createOutput().note(`profile ${name} is forgotten; the key itself is good until "errand keys revoke"`);
    });
  addProfiles(program);
  serverCommand(program, 'whoami', 'show which server commands go to, and whose key they have').action(
    async (options: ServerOptions) => {
      const { errand, out, isJson, url, from, keyFrom } = await connect(options);
      const { data } = await errand.getMe();
      if (isJson) return printJson(out, data);
      await printFields(out, {
        server: `${url} (of ${from})`,
        owner: `${data.name} (${data.id})`,
        'mails go to': data.email,
        key: `that of ${keyFrom}`,
      });
    },
  );
}

function clientOf(url: string, key: string): Errand {
  try {
    return new Errand({ url, key, retries: 1 });
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.usage);
  }
}

function addProfiles(program: Command): void {
  const profiles = program.command('profiles').description('list and choose the saved servers');
  profiles
    .command('list')
    .description('list profiles, without their keys')
    .option('--json', 'print JSON')
    .action(async ({ json }: { readonly json?: true }) => {
      const out = createOutput();
      const { current, profiles: all } = await readProfiles();
      const records = Object.entries(all).map(([name, { url }]) => ({ name, url, current: name === current }));
      if (json) return printJson(out, records);
      if (records.length === 0) return out.note('no profiles: make one with "errand login"');
      await printTable(out, records, [
        { title: 'NAME', of: ({ name }) => name },
        { title: 'CURRENT', of: (one) => (one.current ? 'yes' : '') },
        { title: 'SERVER', of: ({ url }) => url },
      ]);
    });
  profiles
    .command('use <name>')
    .description('use this profile where none is named')
    .action(async (name: string) => {
      const all = await readProfiles();
      profileNamed(all, name);
      await writeProfiles({ ...all, current: name });
    });
}
