// Commands that talk to a server: which one, with which key, and what all of them share.

import type { Command } from 'commander';
import { Errand } from '../../client/client.ts';
import { CliError, EXIT, NoServer } from './exit.ts';
import { createOutput, type Output } from './output.ts';
import { type Profiles, profileNamed, readProfiles } from './profiles.ts';
import { tellingSlowAnswers } from './slow-answer.ts';
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
  /** Where its key is from, for people. */
  readonly keyFrom: string;
}

/** What an action works with. */
export interface Remote extends Target {
  readonly errand: Errand;
  readonly out: Output;
  readonly isJson: boolean;
}

/** Returns the server that runs on this data dir; null: none. `key`: where it is known. Throws `CliError` without its key. */
export type FindLocal = (key?: string) => Promise<{ readonly url: string; readonly key: string } | null>;

/** Returns why this user cannot know whether a server runs on the data dir; null: it can. */
export type WhyHidden = () => string | null;

/** How the server that runs on the data dir here was found. */
export const DATA_DIR = 'data dir';

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

/** Waits for a connection, and names `--local` where the server does not answer. Returns null where none is named, and none runs. */
export async function orLocal(connecting: Promise<Remote>): Promise<Remote | null> {
  try {
    return await connecting;
  } catch (error) {
    if (error instanceof NoServer) return null;
    if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) throw error;
    throw new CliError(`${error.message}; --local goes by this shell's environment`, EXIT.unreachable);
  }
}

/**
 * Returns the server that a command means, in this order: `--url`, `--profile`, the data dir's, the current profile. Its key is
 * that of `--key`, of `--profile`, of the environment, or the one kept with the server: an option is for this call, the environment
 * for this shell, and the current profile for all of them.
 */
export async function findTarget(
  { url, key, profile }: ServerOptions,
  { env, findLocal, whyHidden }: Pick<Connecting, 'env' | 'findLocal' | 'whyHidden'>,
): Promise<Target> {
  if (url !== undefined && profile !== undefined)
    throw new CliError('--url and --profile each name a server: give one of them', EXIT.usage);
  const given = givenKey(key, env);
  if (url !== undefined) return { url, from: '--url', ...(given ?? (await keyKnownFor(url))) };
  // A named profile means its own key: that of another server, in the environment, is not sent there.
  if (profile !== undefined) return ofProfile(await readProfiles(), profile, key === undefined ? null : given);
  const local = await findLocal(given?.key);
  if (local) return { ...local, from: DATA_DIR, keyFrom: 'the data dir', ...given };
  const all = await readProfiles();
  if (all.current !== null) return ofProfile(all, all.current, given);
  const hidden = whyHidden();
  if (hidden !== null) throw new CliError(`${hidden}; --url or "errand login" names a server`, EXIT.unreachable);
  throw new NoServer();
}

type Key = Pick<Target, 'key' | 'keyFrom'>;

/** Returns the key that is given with the call or the shell; null: none. An empty setting is none. */
function givenKey(option: string | undefined, { ERRAND_API_KEY: setting }: NodeJS.ProcessEnv): Key | null {
  if (option !== undefined) return { key: option, keyFrom: '--key' };
  return setting ? { key: setting, keyFrom: 'ERRAND_API_KEY' } : null;
}

function ofProfile(all: Profiles, name: string, given: Key | null): Target {
  return { ...profileNamed(all, name), from: `profile ${name}`, keyFrom: `the profile ${name}`, ...given };
}

/** Returns the key that a profile has for a server that is named by its address. */
async function keyKnownFor(url: string): Promise<Key> {
  const { profiles } = await readProfiles();
  const known = Object.entries(profiles).find(([, profile]) => profile.url === url.replace(/\/+$/, ''));
  if (known) return { key: known[1].key, keyFrom: `the profile ${known[0]}` };
  throw new CliError('--url needs the key of that server in ERRAND_API_KEY, or "errand login"', EXIT.denied);
}

export type Connect = (options: ServerOptions) => Promise<Remote>;

interface Connecting {
  readonly env: NodeJS.ProcessEnv;
  readonly findLocal: FindLocal;
  readonly whyHidden: WhyHidden;
  /** Called with the server before it is asked. */
  readonly onTarget?: (target: Target) => void;
}

export function createConnect(of: Connecting): Connect {
  return async (options) => {
    const target = await findTarget(options, of);
    of.onTarget?.(target);
    const out = createOutput();
    return { ...target, errand: open(target, out), out, isJson: options.json === true };
  };
}

function open({ url, key }: Target, out: Output): Errand {
  try {
    return new Errand({ url, key, retries: RETRIES, fetch: tellingSlowAnswers(out) });
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.usage);
  }
}
