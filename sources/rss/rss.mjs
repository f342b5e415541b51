// Asks a feed, and emits what is new in it.

import { ask, hooks, past, shownUrl, timer } from '../common/polling.mjs';
import { takeNew } from '../common/seen.mjs';
import { readFeed } from './feed.mjs';

export default {
  key: 'rss',
  name: 'New items in a feed',
  description: 'Asks an RSS or Atom feed at an interval, and emits each of its items once.',
  version: '1.0.0',
  dedupe: 'unique',
  props: {
    url: { type: 'string', label: 'Address', description: 'Of the feed: RSS 2.0, RSS 1.0 or Atom.' },
    past,
    timer,
    db: '$.service.db',
  },

  hooks,

  methods: {
    async poll() {
      const { db, url } = this;
      const answer = await ask(db, url);
      if (answer === null) return;
      const { items, ...feed } = this.read(answer);
      const { isFirst, fresh } = takeNew(db, { from: url, items, idOf: ({ id }) => id });
      const emitted = isFirst ? newestFirst(fresh).slice(0, this.past) : fresh;
      for (const item of emitted.reverse()) {
        const { id, title, link, published } = item;
        const ts = published === undefined ? {} : { ts: Date.parse(published) };
        this.$emit({ ...item, feed }, { id, summary: (title ?? link ?? id).slice(0, 200), ...ts });
      }
    },

    read({ bytes, type }) {
      try {
        return readFeed(bytes, type, this.url);
      } catch (error) {
        throw new Error(`${shownUrl(this.url)} cannot be read: ${error.message}`);
      }
    },
  },

  async run() {
    await this.poll();
  },
};

/** Feeds have no order that all agree on; what has no date stays where it is. */
function newestFirst(items) {
  if (items.some(({ published }) => published === undefined)) return items;
  return [...items].sort((a, b) => Date.parse(b.published) - Date.parse(a.published));
}
