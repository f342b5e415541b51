// What a source emits, by the second: in runs that emit a thousand each, and in runs that emit one. Against a loop that
// inserts rows of the same size into a bare SQLite file, a thousand to a transaction.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Pool } from 'undici';
import { BODY } from '../kit/load.ts';
import { cpuSecondsOf, type Env, startBench } from '../kit/server.ts';

export interface Emitting {
  readonly perSecond: number;
  /** CPU time of the server for one emission, in microseconds. */
  readonly serverCpuUs: number;
}

const SOURCE = `export default {
  props: { http: '$.interface.http' },
  run({ body }) { for (let n = 0; n < body.times; n++) this.$emit(body.event, { summary: 'event ' + n, ts: n }); },
};`;
const PER_TRANSACTION = 1000;
const AT_ONCE = 16;

/** So many runs that emit so much each, one after the other, as the runs of a source are. */
export async function emitting(of: { runs: number; perRun: number }, env?: Env): Promise<Emitting> {
  await using bench = await startBench(undefined, env);
  const source = await bench.client.post('/v1/sources', { name: 'bench', component_code: SOURCE });
  const { origin, pathname: path } = new URL(source.endpoint_url);
  const pool = new Pool(origin, { connections: AT_ONCE });
  const body = JSON.stringify({ times: of.perRun, event: JSON.parse(BODY) });
  const headers = { 'content-type': 'application/json' };
  const post = async (): Promise<void> => {
    const answer = await pool.request({ method: 'POST', path, headers, body });
    await answer.body.dump();
  };
  await post();
  const before = await bench.settled();
  const cpuBefore = await cpuSecondsOf(bench.process.child.pid as number);
  const startedAt = performance.now();
  let left = of.runs;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await post();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  const after = await bench.settled();
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = (await cpuSecondsOf(bench.process.child.pid as number)) - cpuBefore;
  await pool.close();
  // The events that the runs began with are emissions too, of the trigger.
  const emissions = after.emissions - before.emissions - of.runs;
  return { perSecond: emissions / seconds, serverCpuUs: (cpu / emissions) * 1e6 };
}

/** Rows by the second. */
export async function bareInserts(rows: number): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-bench-'));
  const db = new DatabaseSync(join(dir, 'bare.db'));
  try {
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      CREATE TABLE rows (entry INTEGER PRIMARY KEY, emitter_id TEXT NOT NULL, body BLOB NOT NULL) STRICT;
      CREATE INDEX rows_emitter ON rows (emitter_id, entry);`);
    const insert = db.prepare('INSERT INTO rows (entry, emitter_id, body) VALUES (?, ?, ?)');
    const body = Buffer.from(BODY);
    const startedAt = performance.now();
    for (let n = 0; n < rows; n++) {
      if (n % PER_TRANSACTION === 0) db.exec('BEGIN IMMEDIATE');
      insert.run(n, 'dc_0000000000000001', body);
      if (n % PER_TRANSACTION === PER_TRANSACTION - 1 || n === rows - 1) db.exec('COMMIT');
    }
    return rows / ((performance.now() - startedAt) / 1000);
  } finally {
    db.close();
    await rm(dir, { recursive: true, force: true });
  }
}
