// A second owner on the same store, and the command line that makes one.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { BARE_ENV } from './bare-env.ts';
import { type Client, createClient, type Json } from './client.ts';
import { type Errand, startErrand } from './errand.ts';
import { createErrandOn, type ErrandActions } from './flows.ts';

const ENTRY = join(import.meta.dirname, '../../src/errand.ts');

export interface OwnerOn extends ErrandActions {
  readonly id: string;
  readonly client: Client;
  readonly data: Json;
}

/** Makes an owner with the first owner's admin key. */
export async function createOwner(errand: Errand, name = 'second'): Promise<OwnerOn> {
  const data = await errand.client.post('/v1/owners', { name, email: `${name}@example.com` });
  const client = createClient(errand.url, data.api_key);
  return { id: data.id, client, data, ...createErrandOn(() => client) };
}

/** Starts one server for all tests of a file; each call makes an owner, so that the tests see nothing of each other. */
export function sharedErrand(): () => Promise<OwnerOn> {
  let errand: Errand;
  before(async () => {
    errand = await startErrand();
  });
  after(() => errand[Symbol.asyncDispose]());
  return () => createOwner(errand);
}

/** A client with a key of the given scopes, made by `client`. */
export async function withScopes(client: Client, scopes: string[]): Promise<{ client: Client; key: Json }> {
  const key = await client.post('/v1/keys', { label: scopes.join(' and '), scopes });
  return { client: createClient(client.url, key.api_key), key };
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `errand …` as a process of its own, on the settings of a service. */
export function runCommand(errand: Errand, args: string[], more: Record<string, string> = {}): Promise<CommandResult> {
  const env = { ...BARE_ENV, ...errand.settings, ...more };
  return new Promise((resolve) => {
    execFile(process.execPath, [ENTRY, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
    });
  });
}

/** What the dashboard's own requests have. */
export const OWN = { 'x-errand-dashboard': '1', 'sec-fetch-site': 'same-origin' };

export interface BrowserSession {
  readonly headers: { readonly cookie: string };
  /** Returns the status of a request with the session. */
  status(): Promise<number>;
}

/** Signs in. `asked`: the node that is asked with it later. */
export async function sessionOf(url: string, apiKey: string, asked = url): Promise<BrowserSession> {
  const response = await fetch(`${url}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...OWN },
    body: JSON.stringify({ api_key: apiKey }),
  });
  assert.equal(response.status, 200);
  const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
  // The name of the cookie has the port.
  const headers = { cookie: cookie.replace(/^(errand-session-)\d+/, `$1${new URL(asked).port}`) };
  return { headers, status: async () => (await fetch(`${asked}/v1/session`, { headers })).status };
}
