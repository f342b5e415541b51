// An hour of polling a feed that misbehaves, with the service restarted in between: every item once, none twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Errand, startErrand } from '../support/errand.ts';
import { createDice, nextTrouble, startFeed } from '../support/sources/feed.ts';
import { createOwn } from '../support/sources/own-sources.ts';
import { listen, streamPath } from '../support/stream.ts';
import { until } from '../support/wait.ts';
import { pass } from '../support/waits.ts';

const MINUTE_MS = 60_000;
const MINUTES = 60;
const RESTARTS = [17, 18, 41];
const SEEDS = [20_260_101];

/** Lets a minute pass, and waits until the poll of that minute is over. */
async function minute(errand: Errand, asked: () => number): Promise<void> {
  const before = asked();
  await pass(errand, MINUTE_MS);
  await until('the next poll', () => asked() > before);
  await errand.settled();
}

for (const seed of SEEDS) {
  test(`an hour of trouble loses and repeats nothing (${seed})`, async (t) => {
    const dice = createDice(seed);
    await using feed = await startFeed(dice);
    await using errand = await startErrand();
    feed.grow(5);
    const source = await createOwn(errand, 'rss', { url: feed.url, timer: { intervalSeconds: 60 }, past: 10 });
    const listener = await errand.workflow('export default ({ steps }) => steps.trigger.event.id;', {
      triggers: [{ type: 'source', source_id: source.id }],
    });
    const heard: string[] = [];
    let lastId = '0-0';
    const hear = async (count: number): Promise<void> => {
      await using stream = await listen(errand, streamPath(source.id), { 'last-event-id': lastId });
      const records = await stream.count(count);
      heard.push(...records.map(({ event }) => event.id));
      lastId = stream.heard.at(-1)?.id ?? lastId;
    };

    for (let n = 1; n <= MINUTES; n++) {
      if (dice() < 0.7) feed.grow(Math.floor(dice() * 6));
      // The last polls are in peace: what was missed before is made up for.
      feed.trouble(n > MINUTES - 2 ? undefined : nextTrouble(dice));
      await minute(errand, () => feed.asked);
      if (RESTARTS.includes(n)) {
        await hear(feed.answers.at(-1) === 'listed' ? feed.ids.length - heard.length : 0);
        await errand.restart();
      }
    }
    await hear(feed.ids.length - heard.length);

    assert.deepEqual(heard.toSorted(), feed.ids.toSorted(), 'each item once');
    const { data: ledger } = await errand.client.get('/v1/ledger');
    assert.equal(ledger.runs.succeeded + ledger.runs.failed, ledger.runs.total, JSON.stringify(ledger.runs));
    const { page_info } = await errand.client.get(`/v1/workflows/${listener.id}/runs?state=succeeded&limit=1`);
    t.diagnostic(`${feed.ids.length} items, ${feed.asked} requests: ${JSON.stringify(counted(feed.answers))}`);
    // The first five came with the creation, before anybody listened.
    assert.equal(page_info.total_count, feed.ids.length - 5, 'whoever listens heard each once');
    const wrong = feed.answers.filter((kind) => kind !== 'listed' && kind !== 'unchanged').length;
    assert.ok(wrong > 10 && feed.answers.includes('unchanged'), 'there was trouble, and there were ETags');
  });
}

function counted(kinds: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
