// The power of the server's disk is cut under load, again and again, and the server is started on what was written by then:
// every event that was accepted is there and has run, every mail that was told as sent is a file, every event that a webhook
// was told of is known, what was configured is there with its secrets, and the store adds up. Every fifth time it is a new
// disk, and every tenth time the cut comes about its first start.
//
// What counts as promised: each answer of 200 that the server had begun to send before the cut began, however late it was
// read. The server stamps its answers itself (hooks/answered-at.ts), the cut is stamped right before the system call that
// cuts, and both by one clock. An answer stamped later promises nothing: where power is cut in truth nothing answers any
// more, while here the server runs on, and ext4 tells some of the syncs as done that meet its shutdown. (In 35
// cuts, 15 such answers were gone, of four of them. All of a cut waited for one fdatasync, which was called 7 to 17 ms before
// the cut began, and told as done within 8 ms after it was over. Of the syncs that were called later, none succeeded.)

import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BARE_ENV } from '../../support/bare-env.ts';
import { type Client, createClient, type Json } from '../../support/client.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { settle } from '../api-check.ts';
import { type Cut, Disk } from '../disk.ts';
import { ANSWERED_AT } from '../hooks/header.ts';
import { createDice, type Dice } from '../random.ts';
import { Server } from '../server.ts';
import { Told } from './told.ts';

export interface PowerResult {
  cuts: number;
  /** Cuts before the first start was over. */
  early: number;
  /** Cuts at which requests had been sent and not answered. */
  inFlight: number;
  /** The longest that the call took which cuts. */
  longestMs: number;
  accepted: number;
  mails: number;
  /** Events that the webhook was told of before the cut. */
  told: number;
  readonly lost: string[];
  /** Answers that were begun after the cut had begun, and after how many milliseconds those whose events are gone. */
  readonly late: { answered: number; readonly goneAfterMs: number[] };
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
const ASKED_EVERY_MS = 5;
/** What answers that were sent before the cut may take to be read. */
const READ_MS = 1000;
const SETTLE_MS = 90_000;
const STAMPS = join(import.meta.dirname, '../hooks/answered-at.ts');
const ERRAND = join(import.meta.dirname, '../../../src/errand.ts');
const CODE = `export default ({ steps, $ }) => {
  if (process.env.SECRET !== 'kept') throw new Error('the environment is lost');
  if (steps.trigger.event.body.mails) $.send.email({ subject: 'sent', text: 'sent' });
  if (steps.trigger.event.body.tells) $.send.emit({});
}`;

/** What was answered, and when the server began to send the answer. */
interface Answered {
  readonly id: string;
  readonly at: bigint;
}

/** One server on one disk, and what it has promised so far. */
class Promised {
  readonly disk: Disk;
  readonly server: Server;
  /** Since the last cut. */
  answered: Answered[] = [];
  /** Before the last cut began, and not yet looked for. */
  readonly fresh = new Set<string>();
  /** After it had begun: so many milliseconds. */
  readonly late = new Map<string, number>();
  /** Requests that were sent and are not answered. */
  inFlight = 0;
  /** Where events are sent to, from the moment at which it was answered. */
  workflow: { readonly id: string; readonly url: string; readonly webhookId: string; readonly at: bigint } | null =
    null;
  key: { readonly text: string; readonly at: bigint } | null = null;

  /** Of which the webhook was told before the last cut began. */
  known: string[] = [];
  readonly #told: Told;

  constructor(disk: Disk, server: Server, told: Told) {
    this.disk = disk;
    this.server = server;
    this.#told = told;
  }

  /** Waits for the server's first start, and sends until `isOver`. Never rejects for what the cut has broken off. */
  async load(isOver: () => boolean): Promise<void> {
    await this.server.life.ready;
    const text = await this.#readKey();
    this.key ??= { text, at: process.hrtime.bigint() };
    this.workflow ??= await this.#configure();
    const { url } = this.workflow;
    const one = async (n: number): Promise<void> => {
      while (!isOver()) {
        const { id, at } = await this.#post(url, { mails: n === 0, tells: n === 1 });
        if (id !== null) this.answered.push({ id, at });
        if (n === 0) await pause(100);
      }
    };
    await Promise.allSettled(Array.from({ length: SENDERS }, (_, n) => one(n)));
  }

  /** Resolves when an event was answered since the last cut. */
  async isAnswered(): Promise<void> {
    while (this.answered.length === 0) await pause(ASKED_EVERY_MS);
  }

  /** Sorts what was answered, and forgets what was not promised. */
  settle({ begunAt }: Cut): void {
    for (const { id, at } of this.answered) {
      if (at < begunAt) this.fresh.add(id);
      else this.late.set(id, Number(at - begunAt) / 1e6);
    }
    this.answered = [];
    this.known = [...this.#told.byId].filter(([, at]) => at < begunAt).map(([id]) => id);
    this.#told.byId.clear();
    if (this.workflow && this.workflow.at >= begunAt) this.workflow = null;
    if (this.key && this.key.at >= begunAt) this.key = null;
  }

  async #readKey(): Promise<string> {
    return (await readFile(join(this.server.dataDir, 'api-key'), 'utf8')).trim();
  }

  async #configure(): Promise<Promised['workflow'] & object> {
    const settings = { env: { SECRET: 'kept' }, queue_limit: 100_000 };
    const steps = [{ namespace: 'one', code: CODE }];
    const body = { name: `W ${Date.now()}`, steps, settings, triggers: [{ type: 'http' }] };
    const { data: workflow } = (await this.#post(`${this.server.url}/v1/workflows`, body)).json;
    const { data: webhook } = (await this.#post(`${this.server.url}/v1/webhooks`, { url: this.#told.url })).json;
    const subscription = { emitter_id: workflow.id, listener_id: webhook.id };
    const { at } = await this.#post(`${this.server.url}/v1/subscriptions`, subscription);
    return { id: workflow.id, url: workflow.triggers[0].endpoint_url, webhookId: webhook.id, at };
  }

  /** `id`: null when it was not answered with 200. */
  async #post(url: string, body: Json): Promise<{ id: string | null; json: Json; at: bigint }> {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${this.key?.text}` };
    this.inFlight++;
    try {
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      const at = response.headers.get(ANSWERED_AT);
      if (at === null) throw new Error(`an answer of ${response.status} does not say when it was sent`);
      const json = (await response.json()) as Json;
      return { id: response.status === 200 ? json.id : null, json, at: BigInt(at) };
    } finally {
      this.inFlight--;
    }
  }
}

/** Cuts the power so often. Rejects when the server does not start again. */
export async function cutPowerUnderLoad({ seed, cuts, tell }: PowerOptions): Promise<PowerResult> {
  const dice = createDice(seed);
  const counts = { cuts: 0, early: 0, inFlight: 0, longestMs: 0, accepted: 0, mails: 0, told: 0 };
  const result: PowerResult = { ...counts, lost: [], late: { answered: 0, goneAfterMs: [] } };
  await using folder = await createFolder();
  await using told = await Told.start();
  let promised: Promised | null = null;
  try {
    while (result.cuts < cuts) {
      if (result.cuts % NEW_DISK_EVERY === 0) {
        // Of a disk that goes, too, the last image is looked at.
        if (promised) await oneLook(promised, result);
        await promised?.server.kill();
        await promised?.disk.unmount();
        told.byId.clear();
        promised = await newDisk(folder.path, told);
      }
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

async function newDisk(folder: string, told: Told): Promise<Promised> {
  await rm(join(folder, 'disk.img'), { force: true });
  const disk = await Disk.make(folder);
  await disk.mount();
  // Its own key, as it makes it: that, too, must be there afterwards.
  const env = { ERRAND_API_KEY: '', ERRAND_LOG_LEVEL: 'warn' };
  const dataDir = join(disk.path, 'data');
  return new Promised(disk, await Server.on({ name: 'power', dataDir, env, preload: STAMPS }), told);
}

async function oneCut(promised: Promised, dice: Dice, result: PowerResult): Promise<void> {
  const { disk, server } = promised;
  const isFirst = promised.key === null;
  const begun = Date.now();
  if (isFirst) server.start();
  else await oneLook(promised, result);
  let isBegun = false;
  let isOver = false;
  const loaded = promised
    .load(() => isOver)
    .catch((error: Error) => {
      // What the cut itself has broken off is no loss.
      if (!isBegun) result.lost.push(`the load: ${error.message}`);
    });
  if (isFirst && result.cuts % (2 * NEW_DISK_EVERY) === NEW_DISK_EVERY) {
    await pause(Math.max(0, dice.between(0, FIRST_START_MS) - (Date.now() - begun)));
  } else {
    await Promise.race([loaded, promised.isAnswered()]);
    await pause(dice.between(50, LOAD_MS));
  }
  const { inFlight } = promised;
  isBegun = true;
  const cut = await disk.cutPower();
  isOver = true;
  // What was answered before is read, too: the kill could take it back.
  await Promise.race([loaded, pause(READ_MS)]);
  await server.kill();
  await loaded;
  promised.settle(cut);
  result.cuts++;
  result.longestMs = Math.max(result.longestMs, Number(cut.overAt - cut.begunAt) / 1e6);
  if (inFlight > 0) result.inFlight++;
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
  if (promised.key !== null && key !== promised.key.text) result.lost.push('the key that was told');
  promised.key ??= { text: key, at: 0n };
  const client = createClient(server.url, key);
  await settle(client, SETTLE_MS);
  await lookForWorkflow(promised, client, result);
  if (promised.workflow) await lookForEvents(promised, client, result);
  result.accepted += fresh.size;
  fresh.clear();
  await lookForTold(promised, client, result);
  const sent = (await deliveriesOf(client, 'kind=mail&state=delivered')).length;
  const kept = await readdir(join(server.dataDir, 'outbox')).catch(() => []);
  const files = await Promise.all(
    kept.filter((name) => name.endsWith('.eml')).map((name) => readFile(join(server.dataDir, 'outbox', name))),
  );
  const whole = files.filter(({ length }) => length > 0).length;
  if (whole < sent) result.lost.push(`${sent - whole} mails that were told as sent`);
  result.mails = Math.max(result.mails, whole);
  await checkStore(server.dataDir, result);
}

/** What follows goes on with a new one. */
async function lookForWorkflow(promised: Promised, client: Client, result: PowerResult): Promise<void> {
  const { workflow, fresh } = promised;
  if (!workflow) return;
  const { status } = await client.request('GET', `/v1/workflows/${workflow.id}`);
  if (status === 200) return;
  result.lost.push(`the workflow, with ${fresh.size} events`);
  promised.workflow = null;
}

async function lookForEvents(promised: Promised, client: Client, result: PowerResult): Promise<void> {
  const { workflow, fresh, late } = promised;
  const left = new Set([...fresh, ...late.keys()]);
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
  for (const [id, afterMs] of late) if (left.has(id)) result.late.goneAfterMs.push(afterMs);
  late.clear();
}

async function deliveriesOf(client: Client, which: string): Promise<Json[]> {
  const all: Json[] = [];
  for (let more = ''; ; ) {
    const { data, page_info } = await client.get(`/v1/deliveries?limit=100&${which}${more}`);
    all.push(...data);
    if (data.length < 100) return all;
    more = `&after=${page_info.end_cursor}`;
  }
}

async function lookForTold(promised: Promised, client: Client, result: PowerResult): Promise<void> {
  const { workflow, known } = promised;
  promised.known = [];
  if (!workflow || known.length === 0) return;
  const found = await deliveriesOf(client, `webhook_id=${workflow.webhookId}&include=emission_id`);
  const left = new Set(found.map(({ emission_id }) => emission_id));
  for (const id of known) if (!left.has(id)) result.lost.push(`event ${id}, of which the webhook was told`);
  result.told += known.length;
}

async function checkStore(dataDir: string, result: PowerResult): Promise<void> {
  const env = { ...BARE_ENV, ERRAND_DATA_DIR: dataDir };
  await promisify(execFile)(process.execPath, [ERRAND, 'store', 'check'], { env }).catch(({ stdout, stderr }) => {
    result.lost.push(`store check: ${stdout}${stderr}`.slice(0, 2000));
  });
}
