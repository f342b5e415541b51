// Asks an address for JSON, and emits what is new in a list of its answer.

import { createHash } from 'node:crypto';
import { ask, hooks, past, shownUrl, timer } from '../common/polling.mjs';
import { takeNew } from '../common/seen.mjs';

export default {
  key: 'poll-json',
  name: 'New items of a JSON API',
  description: 'Asks an address for JSON at an interval, and emits each item of a list in its answer once.',
  version: '1.0.0',
  dedupe: 'unique',
  props: {
    url: { type: 'string', label: 'Address', description: 'What to ask, with GET.' },
    headers: {
      type: 'object',
      label: 'Headers',
      description: 'Sent along, for keys and tokens: name → value.',
      optional: true,
      secret: true,
    },
    items: {
      type: 'string',
      label: 'Path to the list',
      description: 'Names joined by dots, like `data.orders`; empty: the answer is the list.',
      default: '',
    },
    id: {
      type: 'string',
      label: 'Path to the id',
      description: 'In an item: names joined by dots; empty: what has changed is another item.',
      default: 'id',
    },
    past,
    timer,
    db: '$.service.db',
  },

  hooks,

  methods: {
    async poll() {
      const answer = await ask(this.db, this.url, this.headers);
      if (answer === null) return;
      const items = this.listIn(answer.bytes.toString());
      const from = JSON.stringify([this.url, this.items, this.id]);
      const { isFirst, fresh } = takeNew(this.db, { from, items, idOf: this.idOf });
      // The newest come first in most lists.
      const emitted = isFirst ? fresh.slice(0, this.past) : fresh;
      for (const item of emitted.reverse()) this.$emit(item, { id: this.idOf(item), summary: summaryOf(item) });
    },

    listIn(text) {
      const shown = shownUrl(this.url);
      let answer;
      try {
        answer = JSON.parse(text);
      } catch {
        throw new Error(`${shown} answered no JSON, but ${JSON.stringify(text.slice(0, 100))}`);
      }
      const list = at(answer, this.items);
      if (Array.isArray(list)) return list;
      const where = this.items === '' ? 'The answer' : `${JSON.stringify(this.items)} in the answer`;
      const names = list === undefined ? answer : list;
      const known = typeof names === 'object' && names !== null ? `; there are ${Object.keys(names).join(', ')}` : '';
      throw new Error(`${where} of ${shown} is no list${known}`);
    },

    idOf(item) {
      if (this.id === '') return createHash('sha256').update(JSON.stringify(item)).digest('base64url');
      const id = at(item, this.id);
      if (typeof id === 'string' || typeof id === 'number') return id;
      throw new Error(`an item has no ${JSON.stringify(this.id)}: ${JSON.stringify(item).slice(0, 200)}`);
    },
  },

  async run() {
    await this.poll();
  },
};

function at(value, path) {
  if (path === '') return value;
  return path
    .split('.')
    .reduce((within, name) => (Object.hasOwn(Object(within), name) ? within[name] : undefined), value);
}

function summaryOf(item) {
  const text = item?.title ?? item?.name ?? item?.summary ?? JSON.stringify(item);
  return String(text).slice(0, 200);
}
