// The flood of the storm, in a process of its own that runs only while no other wants the CPU: on a machine of two cores it would take
// from the server and from the other callers what in the wild is another machine's. So many POSTs to one address over 64 connections, each sent when the one
// before it was answered.

import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { Pool } from 'undici';
import { CONNECTIONS } from '../kit/load.ts';

export interface Flood {
  readonly url: string;
  readonly count: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `#` becomes the number of the request. */
  readonly body: string;
}

export interface Flooded {
  readonly seconds: number;
  /** Requests that were answered 200; the others were sent again. */
  readonly taken: number;
  readonly refused: number;
}

const NICE = 10;

/** Sends the flood, and resolves when the last of its requests was taken. */
export async function flood(of: Flood): Promise<Flooded> {
  const child: ChildProcess = fork(import.meta.filename, ['send']);
  try {
    setPriority(child.pid as number, NICE);
    // Where it is missing, the priority alone is low.
    spawnSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(child.pid)]);
    child.send(of);
    const [flooded] = await once(child, 'message');
    return flooded as Flooded;
  } finally {
    child.kill('SIGKILL');
  }
}

async function send({ url, count, headers, body }: Flood): Promise<Flooded> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: CONNECTIONS });
  const beganMs = performance.now();
  let [next, taken, refused] = [0, 0, 0];
  const one = async (): Promise<void> => {
    while (next < count) {
      const n = next++;
      for (;;) {
        const answer = await pool.request({
          path: pathname,
          method: 'POST',
          headers,
          body: body.replace('#', String(n)),
        });
        await answer.body.arrayBuffer();
        if (answer.statusCode === 200) break;
        refused++;
      }
      taken++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  await pool.destroy();
  return { seconds: (performance.now() - beganMs) / 1000, taken, refused };
}

if (import.meta.main) {
  process.once('message', (of) => {
    send(of as Flood).then((flooded) => process.send?.(flooded));
  });
}
