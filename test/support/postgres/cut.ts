// A network between a store and its server that breaks when told to: a TCP proxy.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Cutter extends AsyncDisposable {
  readonly port: number;
  /** Open connections. */
  readonly size: number;
  url(database?: string): string;
  /** Resets all connections; new ones may be made at once. Returns how many there were. */
  cutAll(): number;
  /** Resets one at random, so many times a second, until the answer is called. `random`: uniform in [0, 1). */
  cutRandomly(perSecond: number, random?: () => number): () => void;
  /**
   * Nothing gets through any more, and nothing is reset: a network that hangs. With `answers`, what the server is asked
   * still reaches it: a commit whose answer is cut off afterwards has happened, and nobody was told.
   */
  hold(what?: 'both' | 'answers'): void;
  /** What was held gets through, and new connections are taken as they come. */
  resume(): void;
  /** Nobody is let through any more, and those who were are reset, until `resume`. */
  refuse(): void;
  /** Swallows what is sent on the connections of this moment, for good; until `resume`, on new ones as well. */
  mute(): void;
  /** The same for some of the connections that there are, each with that chance; new ones are taken as they come. */
  muteSome(part: number, random?: () => number): void;
  /** Resets all connections on the client's side alone: the server's side stays open for so long, with what was sent. */
  halfOpen(forMs: number): void;
  dispose(): Promise<void>;
}

type Pair = readonly [client: Socket, server: Socket];
type Held = 'both' | 'answers' | 'lost' | null;

const HOST = '127.0.0.1';

export async function startCutter(targetPort: number): Promise<Cutter> {
  const pairs = new Set<Pair>();
  const muted = new WeakSet<Pair>();
  const timers = new Set<NodeJS.Timeout>();
  let held: Held = null;
  let isRefusing = false;
  const proxy = createServer((client) => {
    if (isRefusing) {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const pair: Pair = [client, connect(targetPort, HOST)];
    pairs.add(pair);
    for (const socket of pair) {
      socket.setNoDelay();
      // What one side does the other shall see, an end as an end and a reset as a reset.
      socket.on('error', () => cut(pair));
      socket.on('close', () => end(pair));
    }
    route(pair, held);
  });
  function cut(pair: Pair): void {
    pairs.delete(pair);
    for (const socket of pair) socket.resetAndDestroy();
  }
  function end(pair: Pair): void {
    pairs.delete(pair);
    for (const socket of pair) socket.destroySoon();
  }
  function cutAll(): number {
    const count = pairs.size;
    for (const pair of pairs) cut(pair);
    return count;
  }
  await once(proxy.listen(0, HOST), 'listening');
  const { port } = proxy.address() as AddressInfo;
  const dispose = async (): Promise<void> => {
    for (const timer of timers) clearInterval(timer);
    const closed = new Promise<void>((resolve) => void proxy.close(() => resolve()));
    cutAll();
    await closed;
  };
  return {
    port,
    get size() {
      return pairs.size;
    },
    url: (database = 'postgres') => `postgres://postgres@${HOST}:${port}/${database}`,
    cutAll,
    cutRandomly(perSecond, random = Math.random) {
      const timer = setInterval(() => {
        const pair = [...pairs][Math.floor(random() * pairs.size)];
        if (pair) cut(pair);
      }, 1000 / perSecond);
      timers.add(timer);
      return () => clearInterval(timer);
    },
    hold(what = 'both') {
      held = what;
      for (const pair of pairs) route(pair, held);
    },
    resume() {
      held = null;
      isRefusing = false;
      for (const pair of pairs) if (!muted.has(pair)) route(pair, held);
    },
    refuse() {
      isRefusing = true;
      cutAll();
    },
    mute() {
      held = 'lost';
      for (const pair of pairs) {
        muted.add(pair);
        route(pair, held);
      }
    },
    muteSome(part, random = Math.random) {
      for (const pair of [...pairs].filter(() => random() < part)) {
        muted.add(pair);
        route(pair, 'lost');
      }
    },
    halfOpen(forMs) {
      for (const pair of pairs) {
        const [client, server] = pair;
        pairs.delete(pair);
        route(pair, 'answers');
        for (const socket of pair) socket.removeAllListeners('close').on('error', () => undefined);
        client.unpipe(server);
        client.resetAndDestroy();
        const timer = setTimeout(() => {
          timers.delete(timer);
          server.resetAndDestroy();
        }, forMs);
        timers.add(timer);
      }
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Lets bytes through, or holds them back, as it shall be from now on. */
function route([client, server]: Pair, held: Held): void {
  const ways = [
    { from: client, to: server, isOpen: held === null || held === 'answers' },
    { from: server, to: client, isOpen: held === null },
  ];
  for (const { from, to, isOpen } of ways) {
    from.unpipe(to);
    if (isOpen) from.pipe(to);
    else if (held === 'lost') from.resume();
    else from.pause();
  }
}
