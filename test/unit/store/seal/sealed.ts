// Servers on a store with secrets, and what is kept of those.

import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Log } from '../../../../src/ports.ts';
import { readConfig } from '../../../../src/server/config.ts';
import { openStore } from '../../../../src/server/open-store.ts';
import { clock, random } from '../../../../src/server/real-ports.ts';
import { startService } from '../../../../src/server/service.ts';
import { createClient } from '../../../support/client.ts';
import { spawnErrand } from '../../../support/process.ts';

export const API_KEY = 'an-api-key-for-these-tests';
export const SETTING = 'correct-horse-battery-staple-and-more';
export const OTHER = 'another-horse-battery-staple-and-more';

type Env = Record<string, string>;

/** What a server on SQLite is started with. */
export function onSqlite(dataDir: string, more: Env = {}): Env {
  return { ...BASE, ERRAND_DATA_DIR: dataDir, ERRAND_DATABASE_URL: '', ...more };
}

export function onPostgres(dataDir: string, url: string, more: Env = {}): Env {
  return { ...BASE, ERRAND_DATA_DIR: dataDir, ERRAND_DATABASE_URL: url, ...more };
}

const BASE: Env = { ERRAND_API_KEY: API_KEY, ERRAND_LOG_LEVEL: 'warn', ERRAND_ALLOW_TARGETS: '127.0.0.1/32' };

/** Empty when it starts; else what it says. */
export async function refusalOf(env: Env): Promise<string> {
  try {
    await using _ = await spawnErrand(env);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const log: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Makes a webhook on a server inside this process; its id and secret. */
export async function makeWebhook(env: Env): Promise<{ readonly id: string; readonly secret: string }> {
  const service = await startService(readConfig({ ...env, ERRAND_PORT: '0' }), { clock, random, log });
  try {
    return await createClient(service.url, API_KEY).post('/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  } finally {
    await service.stop(0);
  }
}

/** The webhook's secret, as the store tells it with these settings. */
export async function secretOf(env: Env, webhookId: string): Promise<string> {
  const store = await openStore(readConfig(env), { clock, random, log });
  try {
    const [owner] = await store.listOwners();
    const webhook = await store.getWebhook(String(owner?.id), webhookId);
    return String(webhook?.secrets[0]?.secret);
  } finally {
    await store.close();
  }
}

/** What the first owner's audit log has of commands on the whole store, newest first. */
export async function commandsIn(env: Env): Promise<readonly unknown[][]> {
  const store = await openStore(readConfig(env), { clock, random, log });
  try {
    const [owner] = await store.listOwners();
    const { items } = await store.listAudit({ ownerId: String(owner?.id) }, { limit: 100 });
    const ofCommands = items.filter(({ operation }) => /Store$/.test(operation));
    return ofCommands.map(({ keyId, byOwnerId, keyLabel, operation, method, path, status }) => {
      return [keyId, byOwnerId, keyLabel, operation, method, path, status];
    });
  } finally {
    await store.close();
  }
}

/** What `commandsIn` has of one call. */
export const commanded = (operation: string, command: string): unknown[] => {
  const label = `${userInfo().username}, from the command line`;
  return [null, null, label, operation, 'COMMAND', command, 200];
};

/** What `commandsIn` has of a start that replaced the key. */
export const replacedAtStart = (): unknown[] => {
  const label = `${userInfo().username}, from the environment`;
  return [null, null, label, 'rekeyStore', 'COMMAND', 'a start with ERRAND_SECRET_KEY', 200];
};

/** The row of an SQLite store in that data dir; null: none. */
export function keptKey(dataDir: string): string | null {
  const path = join(dataDir, 'errand.db');
  if (!existsSync(path)) return null;
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() === undefined) return null;
    const row = db.prepare("SELECT value FROM meta WHERE name = 'seal_key'").get();
    return (row as { value: string } | undefined)?.value ?? null;
  } finally {
    db.close();
  }
}

export function keyFile(dataDir: string): string {
  return join(dataDir, 'secret-key');
}

export async function keyIn(dataDir: string): Promise<string> {
  return (await readFile(keyFile(dataDir), 'utf8')).trim();
}

/** The store's file, to be compared: nothing was written when it is the same. */
export async function fileOf(dataDir: string): Promise<object> {
  const path = join(dataDir, 'errand.db');
  const { mtimeMs, size } = await stat(path);
  return { mtimeMs, size, bytes: await readFile(path, 'base64') };
}
