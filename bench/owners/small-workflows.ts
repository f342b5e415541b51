// Many workflows of one owner, each with a run now and then, in turn: how many processes they start, and what a round takes.

import { Pool } from 'undici';
import { BODY } from '../kit/load.ts';
import { startBench } from '../kit/server.ts';

const TELLS = 'export default async ({ $ }) => { await $.respond({ status: 200, body: String(process.pid) }); };';

export interface Rounds {
  readonly starts: number;
  /** Of the rounds behind the first, which starts all of them. */
  readonly roundMs: number;
}

export async function smallWorkflows(count: number, rounds: number): Promise<Rounds> {
  await using bench = await startBench();
  const paths: string[] = [];
  for (let n = 0; n < count; n++) {
    const { triggers } = await bench.client.post('/v1/workflows', {
      name: `small ${n}`,
      steps: [{ namespace: 'step', code: TELLS }],
      triggers: [{ type: 'http', custom_response: true }],
    });
    paths.push(new URL(triggers[0].endpoint_url).pathname);
  }
  const pool = new Pool(bench.process.url, { connections: 1 });
  const pids = new Set<string>();
  let beganAt = 0;
  for (let round = 0; round < rounds; round++) {
    if (round === 1) beganAt = performance.now();
    for (const path of paths) pids.add(await (await pool.request({ path, method: 'POST', body: BODY })).body.text());
  }
  const roundMs = (performance.now() - beganAt) / (rounds - 1);
  await pool.destroy();
  return { starts: pids.size, roundMs };
}
