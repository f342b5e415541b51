// The log read forwards: whoever reads from end to end meets each emission once, in order.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ERRORS } from '../../../src/domain/emission.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { EmissionRecord } from '../../../src/store/contract/records.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { announcementOf, type LoggedRecord } from '../../../src/store/contract/streams.ts';
import { all, at, defined, emit, type Harness, json, only, parsed, shareOf, succeeded, times } from '../fixtures.ts';
import { numbered, STUBBORN, Stage } from '../stage.ts';

/** The end, when what was emitted so far lies before it. */
function endOf(stage: Stage): Promise<number> {
  stage.clock.advance(1);
  return stage.store.logEnd();
}

interface From {
  readonly emitterId: string;
  readonly name?: string;
  readonly after: number;
}

async function readAll(stage: Stage, { emitterId, name = '', after }: From, upTo?: number): Promise<LoggedRecord[]> {
  const channel = { ownerId: stage.owner.id, emitterId, name };
  const end = upTo ?? (await endOf(stage));
  const records: LoggedRecord[] = [];
  for (;;) {
    const step = await stage.store.emissionsAfter(channel, { after: records.at(-1)?.entry ?? after, upTo: end }, true);
    if (step.length === 0) return records;
    records.push(...step);
  }
}

const entriesOf = (records: readonly EmissionRecord[]): number[] => records.map(({ entry }) => entry);

export function streamsContract(harness: Harness): void {
  describe('the log read forwards', () => {
    it('begins at its end', async () => {
      await using stage = await Stage.open(harness);
      const { id: emitterId } = await stage.source();
      await stage.append(emitterId);
      const after = await endOf(stage);
      deepEqual(await readAll(stage, { emitterId, after }), []);
      const { entry } = await stage.append(emitterId);
      ok(entry > after);
      deepEqual(entriesOf(await readAll(stage, { emitterId, after })), [entry]);
    });

    it('gives whole records, oldest first', async () => {
      await using stage = await Stage.open(harness);
      const { id: emitterId } = await stage.source();
      const after = await endOf(stage);
      const first = await stage.append(emitterId, { body: STUBBORN, summary: 'one', itemId: 'a', itemTs: 7 });
      const second = await stage.append(emitterId, { body: numbered(2) });
      const records = await readAll(stage, { emitterId, after });
      deepEqual(entriesOf(records), [first.entry, second.entry]);
      const record = at(records, 0);
      deepEqual(Buffer.from(record.body as Uint8Array), Buffer.from(STUBBORN));
      const { emitId, name, summary, itemId, itemTs, code } = record;
      deepEqual(
        { emitId, name, summary, itemId, itemTs, code },
        { emitId: first.emitId, name: '', summary: 'one', itemId: 'a', itemTs: 7, code: null },
      );
    });

    it('leaves out the bodies when asked to', async () => {
      await using stage = await Stage.open(harness);
      const { id: emitterId } = await stage.source();
      const after = await endOf(stage);
      await stage.append(emitterId);
      const channel = { ownerId: stage.owner.id, emitterId, name: '' };
      const stretch = { after, upTo: await endOf(stage) };
      equal(only(await stage.store.emissionsAfter(channel, stretch, false)).body, null);
    });

    it('goes no further than it is asked to', async () => {
      await using stage = await Stage.open(harness);
      const { id: emitterId } = await stage.source();
      const after = await endOf(stage);
      const first = await stage.append(emitterId);
      const upTo = await endOf(stage);
      await stage.append(emitterId);
      deepEqual(entriesOf(await readAll(stage, { emitterId, after }, upTo)), [first.entry]);
    });

    it('takes channels as subscriptions do', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const emitterId = source.id;
      const after = await endOf(stage);
      const plain = await stage.append(emitterId);
      const paid = await stage.append(emitterId, { name: 'paid' });
      const again = await stage.append(emitterId, { name: 'a' });
      const plainAgain = await stage.append(emitterId);
      const failure = await stage.failure(source);
      const read = async (name: string) => entriesOf(await readAll(stage, { emitterId, name, after }));
      deepEqual(await read(''), [plain.entry, plainAgain.entry]);
      deepEqual(await read('paid'), [paid.entry]);
      deepEqual(await read('*'), [plain.entry, paid.entry, again.entry, plainAgain.entry]);
      deepEqual(await read(ERRORS), [failure]);
      deepEqual(await read('none'), []);
    });

    it('reads many in steps, none twice', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const after = await endOf(stage);
      const count = LIMITS.streamRecords + 7;
      const outgoing = times(count, (n) => emit(n % 3 === 0 ? 'third' : '', { n }));
      await stage.end(await stage.started(source), succeeded({ outgoing }), all());
      const records = await readAll(stage, { emitterId: source.id, name: '*', after });
      deepEqual(
        records.map(({ body }) => parsed(body)),
        times(count, (n) => ({ n })),
      );
      const channel = { ownerId: stage.owner.id, emitterId: source.id, name: '*' };
      const step = await stage.store.emissionsAfter(channel, { after, upTo: at(records, -1).entry }, true);
      equal(step.length, LIMITS.streamRecords);
    });

    it('reads large ones in small steps', async () => {
      await using stage = await Stage.open(harness);
      const source = await stage.source();
      const after = await endOf(stage);
      const large = 'x'.repeat(LIMITS.streamBytes * 0.6);
      const outgoing = times(5, (n) => emit(n === 4 ? 'other' : '', { n, large }));
      await stage.end(await stage.started(source), succeeded({ outgoing }), all());
      const channel = { ownerId: stage.owner.id, emitterId: source.id, name: '*' };
      const stretch = { after, upTo: await endOf(stage) };
      equal((await stage.store.emissionsAfter(channel, stretch, true)).length, 2);
      equal((await readAll(stage, { emitterId: source.id, name: '*', after })).length, 5);
    });

    it('keeps what was hidden to itself', async () => {
      await using stage = await Stage.open(harness);
      const { id: emitterId } = await stage.source();
      const after = await endOf(stage);
      await stage.append(emitterId);
      await stage.store.deleteSourceEvents(stage.owner.id, emitterId);
      const { entry } = await stage.append(emitterId);
      deepEqual(entriesOf(await readAll(stage, { emitterId, after })), [entry]);
    });

    it('is nothing to another owner', async () => {
      await using stage = await Stage.open(harness);
      const other = await stage.neighbour();
      const { id: emitterId } = await stage.source();
      const after = await endOf(stage);
      await stage.append(emitterId);
      const upTo = await endOf(stage);
      for (const name of ['', '*']) {
        const channel = { ownerId: other.owner.id, emitterId, name };
        deepEqual(await stage.store.emissionsAfter(channel, { after, upTo }, true), []);
        equal((await readAll(stage, { emitterId, name, after }, upTo)).length, 1);
      }
    });

    it('has what many emitters emit, by a wildcard', async () => {
      await using stage = await Stage.open(harness);
      const [source, workflow, webhook] = [await stage.source(), await stage.workflow(), await stage.webhook()];
      const other = await stage.neighbour();
      const theirs = await other.source();
      const after = await endOf(stage);
      const fromSource = await stage.append(source.id);
      await other.append(theirs.id);
      const named = await stage.append(workflow.id, { name: 'paid' });
      const failure = await stage.failure(workflow);
      const fromWebhook = await stage.append(webhook.id);
      const hidden = await stage.append('hi_0000000000000001');
      const again = await stage.append(workflow.id);
      const upTo = await endOf(stage);
      const read = async (emitterId: string, name = '') =>
        entriesOf(await readAll(stage, { emitterId, name, after }, upTo));
      deepEqual(await read('*'), [fromSource.entry, fromWebhook.entry, again.entry]);
      deepEqual(await read('*', '*'), [fromSource.entry, named.entry, fromWebhook.entry, again.entry]);
      deepEqual(await read('*', 'paid'), [named.entry]);
      deepEqual(await read('p_*'), [again.entry]);
      deepEqual(await read('p_*', '*'), [named.entry, again.entry]);
      deepEqual(await read('p_*', ERRORS), [failure]);
      deepEqual(await read('dc_*'), [fromSource.entry]);
      deepEqual(await read('dc_*', ERRORS), []);
      ok(!(await read('*', '*')).includes(hidden.entry));
      const emitters = await stage.store.emittersAfter({ after: again.entry - 1, upTo });
      const announced = (of: Stage) => announcementOf({ ownerId: of.owner.id, emitterId: 'dc_*', name: '' });
      deepEqual([emitters.has(announced(stage)), emitters.has(announced(other))], [true, false]);
    });

    it('finds the few among many, and none twice', async () => {
      await using stage = await Stage.open(harness);
      const [source, workflow] = [await stage.source(), await stage.workflow()];
      const after = await endOf(stage);
      const wanted: number[] = [];
      for (const part of times(3, (n) => n)) {
        const outgoing = times(700, (n) => emit('', { part, n }));
        await stage.end(await stage.started(source), succeeded({ outgoing }), all());
        wanted.push((await stage.append(workflow.id)).entry);
      }
      deepEqual(entriesOf(await readAll(stage, { emitterId: 'p_*', after })), wanted);
      const all_ = await readAll(stage, { emitterId: '*', after });
      equal(new Set(entriesOf(all_)).size, 2103);
      equal(all_.length, 2103);
      const channel = { ownerId: stage.owner.id, emitterId: '*', name: '' };
      const step = await stage.store.emissionsAfter(channel, { after, upTo: await endOf(stage) }, false);
      deepEqual([step.length, step[0]?.body], [LIMITS.streamRecords, null]);
      await stage.store.deleteSourceEvents(stage.owner.id, source.id);
      deepEqual(entriesOf(await readAll(stage, { emitterId: '*', after })), wanted);
    });

    it('has the errors of all emitters of an owner', async () => {
      await using stage = await Stage.open(harness);
      const [source, workflow] = [await stage.source(), await stage.workflow()];
      const other = await stage.neighbour();
      const theirs = await other.source();
      const after = await endOf(stage);
      const first = await stage.failure(source);
      await stage.append(source.id);
      await other.failure(theirs);
      const second = await stage.failure(workflow);
      const upTo = await endOf(stage);
      const from = { emitterId: stage.owner.id, name: ERRORS };
      const records = await readAll(stage, { ...from, after }, upTo);
      deepEqual(entriesOf(records), [first, second]);
      deepEqual(entriesOf(await readAll(stage, { ...from, after: first }, upTo)), [second]);
      for (const { body, original } of records) {
        const { start, length } = defined(original);
        const event = Buffer.from(body as Uint8Array).subarray(start, start + length);
        const whole = parsed(body) as { original_event: unknown };
        deepEqual(parsed(event), whole.original_event);
      }
      const emitters = await stage.store.emittersAfter({ after, upTo });
      deepEqual([emitters.has(stage.owner.id), emitters.has(other.owner.id)], [true, true]);
    });

    it('names no owner whose emitters emit without errors', async () => {
      await using stage = await Stage.open(harness);
      const { id: emitterId } = await stage.source();
      const after = await endOf(stage);
      await stage.append(emitterId);
      const emitters = await stage.store.emittersAfter({ after, upTo: await endOf(stage) });
      deepEqual([emitters.has(emitterId), emitters.has(stage.owner.id)], [true, false]);
    });

    it('names who has emitted', async () => {
      await using stage = await Stage.open(harness);
      const [a, b, c] = [await stage.source(), await stage.source(), await stage.source()];
      await stage.append(a.id);
      const after = await endOf(stage);
      await stage.append(b.id);
      await stage.append(c.id, { name: 'paid' });
      const upTo = await endOf(stage);
      await stage.append(a.id);
      const emitters = await stage.store.emittersAfter({ after, upTo });
      deepEqual([emitters.has(a.id), emitters.has(b.id), emitters.has(c.id)], [false, true, true]);
    });

    it('goes on behind its end after a restart', async () => {
      await using stage = await Stage.open(harness);
      const { id: emitterId } = await stage.source();
      const after = await endOf(stage);
      await stage.append(emitterId);
      const middle = await endOf(stage);
      await stage.reopen();
      const { entry } = await stage.append(emitterId);
      ok(entry > middle);
      ok((await endOf(stage)) >= entry);
      equal((await readAll(stage, { emitterId, after })).length, 2);
    });

    it('tells when something was emitted', async () => {
      await using stage = await Stage.open(harness);
      const { id: emitterId } = await stage.source();
      const told = heard(stage.store);
      await stage.append(emitterId);
      await told;
    });

    it('misses none of those that come at once', async () => {
      await using stage = await Stage.open(harness);
      const { id: emitterId } = await stage.source();
      const count = shareOf(harness, 200);
      let cursor = await endOf(stage);
      const read: number[] = [];
      const appending = Promise.all(times(count, (n) => stage.append(emitterId, { body: json({ n }) })));
      let isOver = false;
      const over = appending.finally(() => {
        isOver = true;
      });
      while (!isOver) {
        const end = await endOf(stage);
        read.push(...entriesOf(await readAll(stage, { emitterId, after: cursor }, end)));
        cursor = end;
        // SQLite reads without ever waiting, and would let nothing be written meanwhile.
        await new Promise((resolve) => setImmediate(resolve));
      }
      const appended = await over;
      read.push(...entriesOf(await readAll(stage, { emitterId, after: cursor })));
      deepEqual(
        read,
        appended.map(({ entry }) => entry).sort((a, b) => a - b),
      );
    });
  });
}

const heard = (store: Store): Promise<void> =>
  new Promise((resolve) => store.listen({ notify: (topic) => void (topic === 'emissions' && resolve()) }));
