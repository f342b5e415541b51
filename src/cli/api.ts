// A client of the running server's API for commands.

import { readFile } from 'node:fs/promises';
import { type Config, dataPaths } from '../server/config.ts';
import { readRunning } from '../server/running-file.ts';
import { CliError, EXIT, exitCodeOfStatus } from './shell/exit.ts';

/** So long a server on this machine may take to say that it is there. */
const ALIVE_MS = 10_000;

export interface Api {
  /** Returns the answer's `data`. Throws `CliError` with the server's message. */
  call(method: string, path: string, body?: object): Promise<unknown>;
  /** Returns the whole answer, where it has more than `data`. Throws as `call` does. */
  post(path: string, body: object): Promise<unknown>;
}

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
  const isAlive = await fetch(`${url}/healthz`, { signal }).then(
    (response) => response.ok,
    () => false,
  );
  if (signal.aborted) throw new CliError(`${url} does not answer: see what its process does`, EXIT.unreachable);
  if (!isAlive) return null;
  const key = given ?? config.apiKey ?? (await readFile(paths.apiKey, 'utf8').catch(() => null))?.trim();
  if (!key)
    throw new CliError(`no API key: set ERRAND_API_KEY, or run this where ${paths.apiKey} can be read`, EXIT.denied);
  return { url, key };
}

export function connect(url: string, key: string): Api {
  return {
    call: async (method, path, body) => (await call({ url: url + path, key, method, body })).data,
    post: (path, body) => call({ url: url + path, key, method: 'POST', body }),
  };
}

interface Call {
  readonly url: string;
  readonly key: string;
  readonly method: string;
  readonly body: object | undefined;
}

async function call({ url, key, method, body }: Call): Promise<{ readonly data?: unknown }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await fetch(url, init).catch((error: Error) => {
    const { cause } = error as { cause?: { message?: string; code?: string } };
    throw new CliError(
      `${new URL(url).origin} cannot be reached: ${cause?.message || cause?.code || error.message}`,
      EXIT.unreachable,
    );
  });
  const answer = (await response.json().catch(() => ({}))) as { data?: unknown; detail?: string };
  if (!response.ok)
    throw new CliError(
      `the server answered ${response.status}: ${answer.detail ?? response.statusText}`,
      exitCodeOfStatus(response.status),
    );
  return answer;
}
