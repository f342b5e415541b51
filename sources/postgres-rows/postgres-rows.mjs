// Asks a Postgres database for rows, by a column that increases, and emits each new one once.

import { createHash } from 'node:crypto';
import { ConfigurationError } from '@pipedream/platform';
import { checkedHooks, past, timer } from '../common/polling.mjs';
import { primaryKeyOf, statementsOf } from './query.mjs';
import { look } from './session.mjs';
import { after, beginning, hashOf, nextFloor } from './window.mjs';

const KEY = 'window';
/** Of keys, which are short. */
const KEYS_PAGE = 1000;
/** Of rows, which may be long. */
const ROWS_PAGE = 50;
const MAX_NEW = 1000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ROW_BYTES = 1024 * 1024;

export default {
  key: 'postgres-rows',
  name: 'New rows in Postgres',
  description: 'Asks a Postgres database at an interval, and emits each new row of a table or query once.',
  version: '1.0.0',
  props: {
    url: {
      type: 'string',
      label: 'Connection string',
      description: '`postgres://user:password@host/database?sslmode=verify-full`; a role that may only read will do.',
      secret: true,
    },
    schema: {
      type: 'string',
      label: 'Schema',
      description: 'Of the table; none: where the role finds it.',
      optional: true,
    },
    table: { type: 'string', label: 'Table', description: 'Or view. Or give a query.', optional: true },
    query: {
      type: 'string',
      label: 'Query',
      description: 'A SELECT, without ORDER BY and LIMIT, in the place of a table.',
      optional: true,
    },
    column: {
      type: 'string',
      label: 'Column',
      description: 'One that increases: new rows have higher values, like an id or the time of a change.',
    },
    key: {
      type: 'string[]',
      label: 'Key',
      description: 'Columns that tell rows apart; none: the primary key of the table, or else all columns.',
      optional: true,
    },
    lookback: {
      type: 'integer',
      label: 'Lookback',
      description: 'For how many seconds after a row rows with lower values may still be committed.',
      default: 300,
      min: 0,
      max: 86_400,
    },
    past,
    timer,
    db: '$.service.db',
  },

  hooks: checkedHooks,

  methods: {
    check() {
      if (!URL.canParse(this.url) || !/^postgres(ql)?:$/.test(new URL(this.url).protocol)) {
        throw new ConfigurationError('the connection string is no postgres://user:password@host/database');
      }
      if (!this.table === !this.query) throw new ConfigurationError('give either a table or a query');
    },

    async poll() {
      this.check();
      const state = this.db.get(KEY);
      const from = this.from();
      const found = await look(this.url, async (run) => {
        const statements = statementsOf({ ...this.relation(), column: this.column, key: await this.keyOf(run) });
        return state?.from === from
          ? await this.goOn(state, { run, statements })
          : await this.begin(from, { run, statements });
      });
      this.db.set(KEY, found.state);
      for (const { entry, row } of found.emitted) {
        const id = this.idOf(entry);
        this.$emit(row, { id, summary: `${this.table ?? 'row'} ${id}`.slice(0, 200) });
      }
    },

    relation() {
      return { schema: this.schema || undefined, table: this.table || undefined, query: this.query };
    },

    /** What is read; another query starts from the beginning. Without the password, which may change. */
    from() {
      const { host, pathname } = new URL(this.url);
      const parts = [host, pathname, this.schema, this.table, this.query, this.column, this.key];
      return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
    },

    async keyOf(run) {
      if (this.key !== undefined && this.key.length > 0) return this.key;
      if (!this.table) return [];
      return (await run(primaryKeyOf(this.relation()))).map(({ name }) => name);
    },

    async begin(from, { run, statements }) {
      const found = await run(statements.newest(KEYS_PAGE + 1));
      const hasMore = found.length > KEYS_PAGE;
      const newest = found.slice(0, KEYS_PAGE).reverse();
      const wanted = this.past === 0 ? [] : newest.slice(-this.past);
      const { emitted } = await rowsOf(wanted, { run, statements });
      return { emitted, state: beginning({ from, newest, hasMore, nowMs: Date.now() }) };
    },

    async goOn(state, { run, statements }) {
      const at = { lookbackMs: this.lookback * 1000, nowMs: Date.now() };
      const keys = await keysOf(state, { run, statements, raised: nextFloor(state, at) });
      const { emitted, next } = await rowsOf(keys.fresh, { run, statements });
      const read = next === undefined ? keys.read : keys.read.slice(0, keys.read.indexOf(next));
      const isWhole = keys.isWhole && next === undefined;
      const done = after(state, { read, isWhole, ...at });
      if (!isWhole) console.log(`there are more rows than ${emitted.length}; the next poll goes on`);
      if (done.isCut) console.warn('more rows have come within the lookback than are remembered: it is cut short');
      return { emitted, state: done.state };
    },

    /** A row comes again when its value has changed. */
    idOf({ value, key }) {
      const parts = key.startsWith('[') ? JSON.parse(key) : [key];
      const name = parts.length === 1 ? String(parts[0]) : key;
      return name === value ? name : `${name} ${value}`;
    },
  },

  async run() {
    await this.poll();
  },
};

/** From the floor on, until there are no more, or enough that are new. */
async function keysOf(state, { run, statements, raised }) {
  const seen = new Set(state.seen);
  const [read, fresh] = [[], []];
  let from = state.floor;
  for (;;) {
    const isWith = from === state.floor;
    const page = await run(statements.keys({ from, isWith, raised, top: state.top, limit: KEYS_PAGE }));
    for (const [i, entry] of page.entries()) {
      if (i > 0 && hashOf(entry) === hashOf(page[i - 1])) {
        if (statements.hasKey) throw new Error(`two rows have the key ${entry.key} and the value ${entry.value}`);
        continue; // two rows that do not differ are one
      }
      if (!seen.has(hashOf(entry))) {
        if (fresh.length === MAX_NEW) return { read, fresh, isWhole: false };
        fresh.push(entry);
      }
      read.push(entry);
    }
    if (page.length < KEYS_PAGE) return { read, fresh, isWhole: true };
    const { value, key } = page.at(-1);
    from = [value, key];
  }
}

/** `next`: the first for which there was no room. */
async function rowsOf(entries, { run, statements }) {
  const emitted = [];
  let bytes = 0;
  for (let i = 0; i < entries.length; i += ROWS_PAGE) {
    const page = entries.slice(i, i + ROWS_PAGE);
    const rows = await run(statements.rows(page));
    for (const [n, entry] of page.entries()) {
      const row = fitted(rows[n]);
      bytes += bytesOf(row);
      if (bytes > MAX_BYTES) return { emitted, next: entry };
      emitted.push({ entry, row });
    }
  }
  return { emitted };
}

/** Without its longest values when it is too long, and with their names. */
function fitted(row) {
  if (bytesOf(row) <= MAX_ROW_BYTES) return row;
  const rest = { ...row };
  const longest = Object.keys(row).sort((a, b) => bytesOf(row[b]) - bytesOf(row[a]));
  const omitted = [];
  while (bytesOf(rest) > MAX_ROW_BYTES) {
    omitted.push(longest[omitted.length]);
    delete rest[omitted.at(-1)];
  }
  return { ...rest, $omitted: omitted };
}

function bytesOf(value) {
  return Buffer.byteLength(JSON.stringify(value));
}
