// A feed on loopback that grows and misbehaves by a seed: it repeats, reorders, fails, and comes back.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const SHOWN = 30;

const TROUBLES = ['error', 'garbage', 'cut', 'reset', 'empty', 'busy'] as const;
export type Trouble = (typeof TROUBLES)[number];

export interface Feed extends AsyncDisposable {
  readonly url: string;
  /** Ids of all items that were ever in it, oldest first. */
  readonly ids: string[];
  /** What each request was answered with, by name. */
  readonly answers: string[];
  /** Adds so many items, of which the last 30 are listed, and changes their order. */
  grow(count: number): void;
  /** Answers wrongly until it is told otherwise. */
  trouble(kind: Trouble | undefined): void;
  readonly asked: number;
}

/** Numbers in [0, 1) that are the same for the same seed. */
export function createDice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

export async function startFeed(dice: () => number): Promise<Feed> {
  const ids: string[] = [];
  const answers: string[] = [];
  let listed: string[] = [];
  let trouble: Trouble | undefined;
  const server = createServer((request, response) => {
    const body = rss(listed);
    const etag = `"${createHash('md5').update(body).digest('hex')}"`;
    const isKnown = trouble === undefined && request.headers['if-none-match'] === etag;
    answers.push(trouble ?? (isKnown ? 'unchanged' : 'listed'));
    if (trouble === 'reset') return void response.destroy();
    if (trouble === 'error') return void response.writeHead(500).end('down');
    if (trouble === 'busy') return void response.writeHead(503, { 'retry-after': '60' }).end();
    if (trouble === 'garbage') return void response.writeHead(200, { etag }).end('<html><p>Be right back<br>');
    if (trouble === 'empty') return void response.writeHead(200, { etag }).end(rss([]));
    if (trouble === 'cut') {
      response.writeHead(200, { etag, 'content-length': Buffer.byteLength(body) });
      response.write(body.slice(0, body.length / 2), () => response.destroy());
      return;
    }
    if (isKnown) return void response.writeHead(304, { etag }).end();
    response.writeHead(200, { etag, 'content-type': 'application/rss+xml' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/feed.xml`,
    ids,
    answers,
    grow: (count) => {
      for (let n = 0; n < count; n++) ids.push(`item-${ids.length + 1}`);
      const newest = ids.slice(-SHOWN).reverse();
      // Some lists are shuffled, and some name an item twice.
      listed = dice() < 0.5 ? newest : [...newest].sort(() => dice() - 0.5);
      if (listed[0] !== undefined && dice() < 0.5) listed = [...listed, listed[0]];
    },
    trouble: (kind) => {
      trouble = kind;
    },
    get asked() {
      return answers.length;
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** What may be wrong with the next answer; undefined: nothing. */
export function nextTrouble(dice: () => number): Trouble | undefined {
  return dice() < 0.35 ? TROUBLES[Math.floor(dice() * TROUBLES.length)] : undefined;
}

function rss(ids: readonly string[]): string {
  const items = ids.map((id) => `<item><guid isPermaLink="false">${id}</guid><title>T ${id}</title></item>`);
  return `<?xml version="1.0"?><rss version="2.0"><channel><title>Feed</title>${items.join('')}</channel></rss>`;
}
