// The power of the server's disk is cut under load, again and again, and the server is started on what was written by then:
// every event that was accepted is there and has run, every mail that was told as sent is a file, what was configured is
// there with its secrets, and the store adds up. Every fifth time it is a new disk, and the cut comes about the first start.

import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BARE_ENV } from '../../support/bare-env.ts';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { createFolder } from '../../support/folder.ts';
import { settle } from '../api-check.ts';
import { createDice, type Dice } from '../random.ts';
import { API_KEY, Server } from '../server.ts';
import { Disk } from './disk.ts';

export interface PowerResult {
  cuts: number;
  /** Cuts before the first start was over. */
  early: number;
  accepted: number;
  mails: number;
  readonly lost: string[];
  /**
   * Answers that came while the power was being cut, and how many of their events are gone. No promise: where it is cut in
   * truth nothing answers any more, and ext4 may tell a sync that meets its own shutdown as done.
   */
  readonly late: { answered: number; gone: number };
}

export interface PowerOptions {
  readonly seed: number;
  readonly cuts: number;
  readonly tell: (line: string) => void;
}

const NEW_DISK_EVERY = 5;
const SENDERS = 8;
/** Beyond the time that it takes, so that some are cut behind it. */
const FIRST_START_MS = 8000;
const LOAD_MS = 1500;
const SETTLE_MS = 90_000;
const ERRAND = join(import.meta.dirname, '../../../src/errand.ts');
const CODE = `export default ({ steps, $ }) => {
  if (process.env.SECRET !== 'kept') throw new Error('the environment is lost');
  if (steps.trigger.event.body.mails) $.send.email({ subject: 'sent', text: 'sent' });
}`;

/** One server on one disk, and what it has promised so far. */
class Promised {
  readonly disk: Disk;
  readonly server: Server;
  /** Since the last time that all was looked at. */
  readonly fresh = new Set<string>();
  /** Answered while the power was being cut. */
  readonly late = new Set<string>();
  isCut = false;
  workflow: Json | null = null;
  key: string | null = null;

  constructor(disk: Disk, server: Server) {
    this.disk = disk;
    this.server = server;
  }

  /** Sends until the power is cut. */
  async send(client: Client, isOver: () => boolean): Promise<void> {
    this.workflow ??= await this.#configure(client);
    const { endpoint_url: url } = this.workflow.triggers[0];
    const one = async (n: number): Promise<void> => {
      while (!isOver()) {
        const body = JSON.stringify({ mails: n === 0, at: Date.now() });
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(url, { method: 'POST', headers, body });
        if (response.status === 200) this.#accepted(((await response.json()) as { id: string }).id);
        if (n === 0) await pause(100);
      }
    };
    await Promise.allSettled(Array.from({ length: SENDERS }, (_, n) => one(n)));
  }

  async #configure(client: Client): Promise<Json> {
    const settings = { env: { SECRET: 'kept' }, queue_limit: 100_000 };
    const steps = [{ namespace: 'one', code: CODE }];
    return client.post('/v1/workflows', { name: 'W', steps, settings, triggers: [{ type: 'http' }] });
  }

  #accepted(id: string): void {
    (this.isCut ? this.late : this.fresh).add(id);
  }
}

/** Cuts the power so often. Rejects when the server does not start again. */
export async function cutPowerUnderLoad({ seed, cuts, tell }: PowerOptions): Promise<PowerResult> {
  const dice = createDice(seed);
  const result: PowerResult = { cuts: 0, early: 0, accepted: 0, mails: 0, lost: [], late: { answered: 0, gone: 0 } };
  await using folder = await createFolder();
  let promised: Promised | null = null;
  try {
    while (result.cuts < cuts) {
      if (result.cuts % NEW_DISK_EVERY === 0) promised = await newDisk(folder.path, promised);
      await oneCut(promised as Promised, dice, result);
      tell(`cut ${result.cuts}: ${result.accepted} events accepted, ${result.mails} mails, lost ${result.lost.length}`);
    }
    if (promised) await oneLook(promised, result);
  } finally {
    await promised?.server.kill();
    await promised?.disk.unmount();
  }
  return result;
}

async function newDisk(folder: string, before: Promised | null): Promise<Promised> {
  await before?.server.kill();
  await before?.disk.unmount();
  await rm(join(folder, 'disk.img'), { force: true });
  const disk = await Disk.make(folder);
  await disk.mount();
  // Its own key, as it makes it: that, too, must be there afterwards.
  const env = { ERRAND_API_KEY: '', ERRAND_LOG_LEVEL: 'warn' };
  return new Promised(disk, await Server.on({ name: 'power', dataDir: join(disk.path, 'data'), env }));
}

async function oneCut(promised: Promised, dice: Dice, result: PowerResult): Promise<void> {
  const { disk, server } = promised;
  const isFirst = promised.key === null;
  const begun = Date.now();
  if (isFirst) server.start();
  else await oneLook(promised, result);
  let isOver = false;
  promised.isCut = false;
  const loaded = (async (): Promise<void> => {
    if (isFirst) {
      await server.life.ready;
      promised.key = (await readFile(join(server.dataDir, 'api-key'), 'utf8')).trim();
    }
    const client = createClient(server.url, promised.key ?? API_KEY);
    await promised.send(client, () => isOver);
  })().catch((error: Error) => {
    // What the cut itself has broken off is no loss.
    if (!promised.isCut) result.lost.push(`the load: ${error.message}`);
  });
  await pause(
    isFirst ? Math.max(0, dice.between(0, FIRST_START_MS) - (Date.now() - begun)) : dice.between(50, LOAD_MS),
  );
  promised.isCut = true;
  await disk.cutPower();
  isOver = true;
  await server.kill();
  await loaded;
  result.cuts++;
  if (promised.key === null) result.early++;
  await disk.takeCopy();
  await disk.mount();
}

/** Starts the server on what was written, and looks for all that it has promised. It runs on. */
async function oneLook(promised: Promised, result: PowerResult): Promise<void> {
  const { server, fresh } = promised;
  server.start();
  try {
    await server.life.ready;
  } catch (error) {
    result.lost.push(`the start: ${(error as Error).message}`);
    throw error;
  }
  const key = (await readFile(join(server.dataDir, 'api-key'), 'utf8').catch(() => '')).trim();
  if (promised.key !== null && key !== promised.key) result.lost.push('the key that was told');
  promised.key ??= key;
  const client = createClient(server.url, key);
  const ledger = await settle(client, SETTLE_MS);
  if (promised.workflow) await lookForEvents(promised, client, result);
  result.accepted += fresh.size;
  fresh.clear();
  const sent: number = ledger.deliveries.delivered;
  const kept = await readdir(join(server.dataDir, 'outbox')).catch(() => []);
  const files = await Promise.all(
    kept.filter((name) => name.endsWith('.eml')).map((name) => readFile(join(server.dataDir, 'outbox', name))),
  );
  const whole = files.filter(({ length }) => length > 0).length;
  if (whole < sent) result.lost.push(`${sent - whole} mails that were told as sent`);
  result.mails = Math.max(result.mails, whole);
  await checkStore(server.dataDir, result);
}

async function lookForEvents(promised: Promised, client: Client, result: PowerResult): Promise<void> {
  const { workflow, fresh, late } = promised;
  const left = new Set([...fresh, ...late]);
  let more = '';
  while (left.size > 0) {
    const { data, page_info } = await client.get(`/v1/workflows/${workflow?.id}/runs?limit=100${more}`);
    for (const { emission_id: id, state, error } of data) {
      if (state !== 'succeeded') result.lost.push(`run of ${id}: ${state} ${error?.code}`);
      left.delete(id);
    }
    if (data.length < 100) break;
    more = `&after=${page_info.end_cursor}`;
  }
  for (const id of left) if (fresh.has(id)) result.lost.push(`event ${id}`);
  result.late.answered += late.size;
  result.late.gone += [...late].filter((id) => left.has(id)).length;
  late.clear();
}

async function checkStore(dataDir: string, result: PowerResult): Promise<void> {
  const env = { ...BARE_ENV, ERRAND_DATA_DIR: dataDir };
  await promisify(execFile)(process.execPath, [ERRAND, 'store', 'check'], { env }).catch(({ stdout, stderr }) => {
    result.lost.push(`store check: ${stdout}${stderr}`.slice(0, 2000));
  });
}
