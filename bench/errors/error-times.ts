// From a throw to what comes of it: the error in the list, the run of a workflow that hears it, and the mail at the mail server.
// One kind of event arrives all the time, of which a part fails.

import { setTimeout as pause } from 'node:timers/promises';
import PostalMime, { type Email } from 'postal-mime';
import { Pool } from 'undici';
import type { Json } from '../../test/support/client.ts';
import { startMailServer } from '../../test/support/sources/mail-server.ts';
import { API_KEY, type Bench, type Env, startBench } from '../kit/server.ts';
import { type Spread, spreadOf } from '../kit/stats.ts';

export interface ErrorTimes {
  readonly listed: Spread;
  readonly handled: Spread;
  readonly mailed: Spread;
}

export interface ErrorTimesOptions {
  readonly perSecond: number;
  readonly seconds: number;
  /** Of 100 events. */
  readonly percent: number;
  readonly env?: Env;
}

/** Each error has a code of its own: it would be counted, and not mailed, if another one of its workflow had the same. */
const THROWS = `export default ({ steps }) => {
  const { n, fails } = steps.trigger.event.body;
  if (fails) throw Object.assign(new Error('thrown'), { code: 'E' + n });
};`;
/** The time of the error is that of the throw, to a millisecond. */
const HEARS = `export default ({ steps, $ }) => {
  $.export('$summary', String(Date.now() - Date.parse(steps.trigger.event.error.ts)));
};`;
const LISTED_AT_ONCE = 100;
const WARM_UPS = 100;
/** Of each workflow the first 20 groups are mailed by themselves. */
const WORKFLOWS = 12;

export async function errorTimes({ perSecond, seconds, percent, env }: ErrorTimesOptions): Promise<ErrorTimes> {
  const arrived: { readonly mail: Email; readonly atMs: number }[] = [];
  await using mails = await startMailServer({
    onData: (stream, _peer, done) => {
      Array.fromAsync(stream).then(async (chunks) => {
        const atMs = Date.now();
        arrived.push({ mail: await PostalMime.parse(Buffer.concat(chunks as Buffer[])), atMs });
        done();
      });
    },
  });
  await using bench = await startBench(undefined, {
    ERRAND_SMTP_URL: mails.url,
    ERRAND_MAIL_TO: 'owner@example.com',
    ...env,
  });
  const handler = await bench.workflow(HEARS, { concurrency: 100 });
  const paths: string[] = [];
  // The last one is for the warm-up.
  for (let made = 0; made <= WORKFLOWS; made++) {
    const { id, endpoint } = await bench.workflow(THROWS, { concurrency: 100 });
    await bench.subscribe(id, handler.id, '$errors');
    paths.push(new URL(endpoint).pathname);
  }
  const pool = new Pool(bench.client.url, { connections: 16 });
  const post = async (path: string | undefined, body: { n: number; fails: boolean }): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await pool.request({ path: path ?? '', method: 'POST', headers, body: JSON.stringify(body) });
    await answer.body.arrayBuffer();
  };
  for (let n = 0; n < WARM_UPS; n++) await post(paths[WORKFLOWS], { n: -1 - n, fails: true });
  // A process for each.
  for (const path of paths) await post(path, { n: 0, fails: false });
  await bench.settled();
  const listing = listErrors(pool);
  const sending: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let n = 0; n < perSecond * seconds; n++) {
    const dueMs = beganMs + (n * 1000) / perSecond;
    if (dueMs > performance.now()) await pause(dueMs - performance.now());
    sending.push(post(paths[n % WORKFLOWS], { n, fails: n % 100 < percent }));
  }
  await Promise.all(sending);
  await bench.settled();
  const listed = await listing.end();
  await pool.destroy();
  const mailed = arrived.flatMap(({ mail: { text = '', subject = '' }, atMs }) => {
    const thrown = /^When: +(\S+)$/m.exec(text)?.[1];
    return thrown === undefined || /E-\d/.test(subject) ? [] : [atMs - Date.parse(thrown)];
  });
  return { listed: spreadOf(listed), handled: spreadOf(await handledIn(bench, handler.id)), mailed: spreadOf(mailed) };
}

/** Lists all the time; of each error, how long after its throw it was in hand. */
function listErrors(pool: Pool) {
  const path = `/v1/errors?expand=event&limit=${LISTED_AT_ONCE}`;
  const took = new Map<string, number>();
  let isOver = false;
  const poll = async (): Promise<number[]> => {
    for (let isFirst = true; !isOver; isFirst = false, await pause(1)) {
      const answer = await pool.request({ path, method: 'GET', headers: { authorization: `Bearer ${API_KEY}` } });
      const { data } = (await answer.body.json()) as { data: Json[] };
      const nowMs = Date.now();
      for (const { id, event } of data) {
        if (!took.has(id)) took.set(id, isFirst ? Number.NaN : nowMs - Date.parse(event.error.ts));
      }
    }
    return [...took.values()].filter((ms) => !Number.isNaN(ms));
  };
  const polling = poll();
  return {
    end: async () => {
      await pause(100);
      isOver = true;
      return await polling;
    },
  };
}

async function handledIn(bench: Bench, handlerId: string): Promise<number[]> {
  const took: number[] = [];
  for (let path = `/v1/workflows/${handlerId}/runs?limit=100`, after = ''; ; ) {
    const { data, page_info: page } = await bench.client.get(path + after);
    took.push(...data.map((run: Json) => Number(run.summary)));
    if (data.length < 100) return took.slice(0, -WARM_UPS);
    after = `&after=${page.end_cursor}`;
  }
}
