// Commands that talk to a server: which one, with which key, and what all of them share.

import type { Command } from 'commander';
import { Errand } from '../../client/client.ts';
import { CliError, EXIT } from './exit.ts';
import { createOutput, type Output } from './output.ts';
import { profileNamed, readProfiles } from './profiles.ts';
import { serverValue } from './values.ts';

export interface ServerOptions {
  readonly url?: string;
  readonly key?: string;
  readonly profile?: string;
  readonly json?: true;
}

export interface Target {
  readonly url: string;
  readonly key: string;
  /** How it was found, for people. */
  readonly from: string;
}

/** What an action works with. */
export interface Remote extends Target {
  readonly errand: Errand;
  readonly out: Output;
  readonly isJson: boolean;
}

/** Returns the server that runs on this data dir; null: none. Throws `CliError` without its key. */
export type FindLocal = () => Promise<{ readonly url: string; readonly key: string } | null>;

/** Where a person waits, two more attempts are enough. */
const RETRIES = 2;

/** Adds a command that talks to a server. */
export function serverCommand(parent: Command, nameAndArgs: string, description: string): Command {
  return serverOptions(parent.command(nameAndArgs).description(description)).option(
    '--json',
    'print JSON, as the HTTP API returns it',
  );
}

/** Adds the options that name a server. */
export function serverOptions(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'address of the server; default: the one running on the data dir, else that of the current profile',
      serverValue,
    )
    .option(
      '--key <key>',
      'its API key; prefer ERRAND_API_KEY, since other users of the machine can see options of commands',
    )
    .option('--profile <name>', 'use the server of this profile, saved by "errand login"');
}

/** Adds the option by which a command asks no server, and goes by the environment of this shell. */
export function localOption(command: Command): Command {
  return command.option(
    '--local',
    "use the settings in this shell's environment instead of asking the server; the server may have others",
  );
}

/** Waits for a connection, and names `--local` where there is no server. */
export async function orLocal(connecting: Promise<Remote>): Promise<Remote> {
  try {
    return await connecting;
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) throw error;
    throw new CliError(`${error.message}; --local goes by this shell's environment`, EXIT.unreachable);
  }
}

/** Returns the server that a command means, in this order: `--url`, `--profile`, the data dir's, the current profile. */
export async function findTarget(
  { url, key, profile }: ServerOptions,
  { env, findLocal }: { readonly env: NodeJS.ProcessEnv; readonly findLocal: FindLocal },
): Promise<Target> {
  if (url !== undefined && profile !== undefined)
    throw new CliError('--url and --profile each name a server: give one of them', EXIT.usage);
  const given = key ?? env.ERRAND_API_KEY;
  if (url !== undefined) return { url, key: await keyFor(url, given), from: '--url' };
  if (profile !== undefined) {
    const named = profileNamed(await readProfiles(), profile);
    return { url: named.url, key: key ?? named.key, from: `profile ${profile}` };
  }
  const local = await findLocal();
  if (local) return { url: local.url, key: key ?? local.key, from: 'data dir' };
  const all = await readProfiles();
  if (all.current !== null) {
    const named = profileNamed(all, all.current);
    return { url: named.url, key: key ?? named.key, from: `profile ${all.current}` };
  }
  throw new CliError(
    'no server runs on the data dir here: start one with "errand start", name one with --url, or "errand login"',
    EXIT.unreachable,
  );
}

/** Returns the key to send. Of a server that a profile has, too, the key need not be given again. */
async function keyFor(url: string, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '') return given;
  const { profiles } = await readProfiles();
  const known = Object.values(profiles).find((profile) => profile.url === url.replace(/\/+$/, ''));
  if (known) return known.key;
  throw new CliError('--url needs the key of that server in ERRAND_API_KEY, or "errand login"', EXIT.denied);
}

export type Connect = (options: ServerOptions) => Promise<Remote>;

export function createConnect(of: { readonly env: NodeJS.ProcessEnv; readonly findLocal: FindLocal }): Connect {
  return async (options) => {
    const target = await findTarget(options, of);
    return { ...target, errand: open(target), out: createOutput(), isJson: options.json === true };
  };
}

function open({ url, key }: Target): Errand {
  try {
    return new Errand({ url, key, retries: RETRIES });
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.usage);
  }
}
