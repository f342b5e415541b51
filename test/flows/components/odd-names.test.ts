// Names and values with every kind of character, in `$.service.db` and in data stores: kept exactly, or refused where they are set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStep } from '../../support/actions.ts';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { createSource, emissions, post } from '../../support/sources/sources.ts';
import { naming, newStore, recordPath } from './data-store-kit.ts';

/** What databases, their arrays and their escapes, JSON, and objects may not take as they are. */
const PARTS = [
  ...[
    '\u0000',
    '\u0001',
    '\u00010',
    '\\u0000',
    '\\',
    '"',
    "'",
    '{',
    '}',
    ',',
    'NULL',
    ' ',
    '\n',
    '\u2028',
    '\ufeff',
    '\uffff',
  ],
  ...['a', 'A', 'é', 'e\u0301', '😀', '__proto__', 'constructor', '.', '%00', '$1', '\ud800', '\udc00', '\ud83d'],
];
const NAMES = 150;

/** Names of one to four parts, all different, the same each time. */
function oddNames(seed: number): string[] {
  let state = seed;
  const below = (n: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const names = new Set(PARTS);
  while (names.size < NAMES) {
    names.add(Array.from({ length: 1 + below(4) }, () => PARTS[below(PARTS.length)]).join(''));
  }
  return [...names];
}

/** Sets each name to itself, and says what became of it; the next time, says what it finds. */
const BODY = `
  const { names, sets } = body;
  const out = [];
  for (const name of names) {
    try {
      if (sets) await db.set(name, { [name]: [name] });
      out.push(sets ? 'set' : ((await db.get(name)) ?? null));
    } catch (error) {
      out.push(error.name);
    }
  }`;

const STEP = `export default {
  type: 'action',
  props: { db: '$.service.db' },
  async run({ steps }) {
    const { db } = this;
    const { body } = steps.trigger.event;
    ${BODY}
    return out;
  },
};`;

const source = (type: string): string => `export default {
  props: { http: '$.interface.http', data: '${type}' },
  async run({ body }) {
    const { data: db } = this;
    ${BODY}
    this.$emit({ out });
  },
};`;

const NAMES_SET = oddNames(7);
const refused = NAMES_SET.filter((name) => !name.isWellFormed());
const SET = NAMES_SET.map((name) => (name.isWellFormed() ? 'set' : 'ConfigurationError'));
const kept = (name: string): object => Object.fromEntries([[name, [name]]]);
const FOUND = NAMES_SET.map((name) => (name.isWellFormed() ? kept(name) : null));

async function ranStep(errand: Errand, workflow: Json, body: object, count: number): Promise<unknown> {
  await errand.send(workflow, body);
  const [newest] = await errand.runs(workflow.id, count);
  assert.equal(newest.state, 'succeeded', JSON.stringify(newest));
  return (await errand.client.get(`/v1/runs/${newest.id}`)).data.steps[0].return_value;
}

test('names of a step’s db are kept exactly, or refused where they are set', async () => {
  await using errand = await startErrand();
  assert.ok(refused.length > 10 && refused.length < NAMES_SET.length / 2);
  const workflow = await createStep(errand, STEP);
  assert.deepEqual(await ranStep(errand, workflow, { names: NAMES_SET, sets: true }, 1), SET);
  await errand.restart();
  const { data: again } = await errand.client.get(`/v1/workflows/${workflow.id}`);
  assert.deepEqual(await ranStep(errand, again, { names: NAMES_SET }, 2), FOUND);
  assert.deepEqual(await errand.errors(workflow.id, 0), []);
});

test('names of a source’s db are kept exactly, or refused where they are set', async () => {
  await using errand = await startErrand();
  const made = await createSource(errand, source('$.service.db'));
  await post(made, { names: NAMES_SET, sets: true });
  const [set] = await emissions(errand, made.id, 1);
  assert.deepEqual(set?.event, { out: SET });
  await post(made, { names: NAMES_SET });
  const [found] = await emissions(errand, made.id, 2);
  assert.deepEqual(found?.event, { out: FOUND });
});

test('keys of a data store are kept exactly, or refused where they are set', async () => {
  await using errand = await startErrand();
  const store = await newStore(errand);
  const made = await createSource(errand, source('data_store'), naming(store));
  await post(made, { names: NAMES_SET, sets: true });
  const [set] = await emissions(errand, made.id, 1);
  assert.deepEqual(set?.event, { out: SET });
  for (const name of NAMES_SET.filter((one) => one.isWellFormed() && !/^\.{1,2}$/.test(one))) {
    const { data: record } = await errand.client.get(recordPath(store, name));
    assert.deepEqual([record.key, record.value], [name, kept(name)]);
    const again = await errand.client.put(recordPath(store, name), { value: [name, refused] });
    assert.deepEqual([again.key, again.value], [name, [name, refused]]);
  }
});

test('values with halves of characters are kept, however they become JSON', async () => {
  await using errand = await startErrand();
  const code = `export default {
    type: 'action',
    props: { db: '$.service.db' },
    run() {
      const before = this.db.get('raw') ?? null;
      this.db.set('raw', [JSON.rawJSON('"\\ud800"'), 'x\\udc00', '\\u0000']);
      return [before, JSON.rawJSON('"\\ud83d"')];
    },
  };`;
  const workflow = await createStep(errand, code);
  assert.deepEqual(await ranStep(errand, workflow, {}, 1), [null, '\ud83d']);
  assert.deepEqual(await ranStep(errand, workflow, {}, 2), [['\ud800', 'x\udc00', '\u0000'], '\ud83d']);
});
