// What the system's scheduler did to a server, a child of it and this process while one sample was taken: Linux counts for each
// thread how long it ran, and how long it could have run and waited for a CPU (/proc/<pid>/task/<tid>/schedstat). The files stay
// open: to open all of them for each sample takes longer than the sample.

import { closeSync, openSync, readdirSync, readSync } from 'node:fs';

const NS_PER_MS = 1e6;
const LINE_BYTES = 128;

/** In ms. */
export interface SchedCounts {
  /** The server's first thread, on which JavaScript runs: how long it ran, and waited for a CPU. */
  readonly serverRan: number;
  readonly serverWaited: number;
  /** Of its other threads: those of V8 and those that sync files. */
  readonly threadsWaited: number;
  readonly childRan: number;
  readonly childWaited: number;
  readonly clientWaited: number;
}

interface Count {
  ran: number;
  waited: number;
}

/** Of the threads that a server, one child and this process have when it is made. All zero where the system does not tell. */
export class SchedWatch implements Disposable {
  readonly #server: number[];
  readonly #serverThreads: number[];
  readonly #child: number[];
  readonly #client: number[];
  readonly #line = Buffer.alloc(LINE_BYTES);

  constructor({ server, child }: { readonly server: number; readonly child: number }) {
    const threads = opened(server);
    this.#server = threads.slice(0, 1);
    this.#serverThreads = threads.slice(1);
    this.#child = opened(child);
    this.#client = opened(process.pid).slice(0, 1);
  }

  counts(): SchedCounts {
    const [server, child] = [this.#sum(this.#server), this.#sum(this.#child)];
    return {
      serverRan: server.ran,
      serverWaited: server.waited,
      threadsWaited: this.#sum(this.#serverThreads).waited,
      childRan: child.ran,
      childWaited: child.waited,
      clientWaited: this.#sum(this.#client).waited,
    };
  }

  #sum(files: readonly number[]): Count {
    const sum = { ran: 0, waited: 0 };
    for (const file of files) {
      try {
        const length = readSync(file, this.#line, 0, LINE_BYTES, 0);
        const [ran = '0', waited = '0'] = this.#line.toString('latin1', 0, length).split(' ');
        sum.ran += Number(ran) / NS_PER_MS;
        sum.waited += Number(waited) / NS_PER_MS;
      } catch {} // the thread has ended
    }
    return sum;
  }

  [Symbol.dispose](): void {
    for (const files of [this.#server, this.#serverThreads, this.#child, this.#client])
      for (const file of files) closeSync(file);
  }
}

export function between(before: SchedCounts, after: SchedCounts): SchedCounts {
  const names = Object.keys(after) as (keyof SchedCounts)[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as unknown as SchedCounts;
}

/** The first thread's is the first. */
function opened(pid: number): number[] {
  const files: number[] = [];
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map(Number);
    for (const thread of threads.toSorted((a, b) => a - b))
      files.push(openSync(`/proc/${pid}/task/${thread}/schedstat`, 'r'));
  } catch {}
  return files;
}
