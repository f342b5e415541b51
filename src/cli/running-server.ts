// Finds the server that runs on the data dir of this machine.

import { readFile } from 'node:fs/promises';
import { type Config, dataPaths } from '../server/config.ts';
import { readRunning } from '../server/running-file.ts';
import { CliError, EXIT } from './shell/exit.ts';
import { httpFetch } from './shell/http-fetch.ts';

/** So long a server on this machine may take to say that it is there. */
const ALIVE_MS = 10_000;

/**
 * Returns the address and key of the server that runs on this data dir; null when none answers. `given`: the key, where an option
 * names it. Throws `CliError` when it runs, and its key is not to be had.
 */
export async function findRunning(
  config: Config,
  given?: string,
): Promise<{ readonly url: string; readonly key: string } | null> {
  const paths = dataPaths(config.dataDir);
  const running = await readRunning(paths.running);
  if (running === null) return null;
  const { url } = running;
  const signal = AbortSignal.timeout(ALIVE_MS);
  const isAlive = await httpFetch(`${url}/healthz`, { signal })
    // What is not read holds the connection, and with it the process.
    .then(async (response) => {
      await response.text();
      return response.ok;
    })
    .catch(() => false);
  if (signal.aborted) throw new CliError(`${url} does not answer: see what its process does`, EXIT.unreachable);
  if (!isAlive) return null;
  const key = given ?? config.apiKey ?? (await readFile(paths.apiKey, 'utf8').catch(() => null))?.trim();
  if (!key)
    throw new CliError(`no API key: set ERRAND_API_KEY, or run this where ${paths.apiKey} can be read`, EXIT.denied);
  return { url, key };
}
