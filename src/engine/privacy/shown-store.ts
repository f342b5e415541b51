// The store as people see it: what is read of events, errors and messages is redacted by the rules of its owner. Everything that
// shows, over HTTP or in streams, reads through it; what acts, such as a replay, reads the store itself.

import type { Emission } from '../../domain/emission.ts';
import type { ErrorGroup } from '../../domain/errors/group.ts';
import { ledBy } from '../../domain/privacy/led-by.ts';
import type { Redactor } from '../../domain/privacy/redactor.ts';
import type { Page } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import type { RedactionRulesOf } from './redactions.ts';
import {
  shownDelivery,
  shownDeliveryRecord,
  shownEmission,
  shownGroup,
  shownLogged,
  shownMemory,
  shownReceipt,
  shownRecord,
  shownRun,
  shownValue,
  shownWhole,
} from './shown-records.ts';

/** Verbs whose answers have events or messages: the one list of places that show. */
export const SHOWING = [
  'listEmissions',
  'getEmission',
  'receipts',
  'readEmissions',
  'emissionsAfter',
  'listLater',
  'listRuns',
  'getRun',
  'searchErrors',
  'searchRuns',
  'listDeliveries',
  'getDelivery',
  'resendDelivery',
  'listErrorGroups',
  'searchErrorGroups',
  'getErrorGroup',
  'updateErrorGroup',
  'previewReplay',
  'sourceState',
  'readMemory',
] as const satisfies readonly (keyof Store)[];

type Showing = Pick<Store, (typeof SHOWING)[number]>;

/** `ids`: the emitter, and the workflow or source that ran. */
type Hides = (...ids: readonly (string | null)[]) => Redactor | null;

const hidesEmission = (emission: Emission, hides: Hides): Redactor | null =>
  hides(emission.emitterId, emission.onlyListenerId, ...ledBy(emission));

export function shownStore(store: Store, rules: Pick<RedactionRulesOf, 'read'>): Store {
  const hidesFor = async (ownerId: string): Promise<Hides | null> => {
    const own = await rules.read(ownerId);
    return own && ((...ids) => own.of(ids));
  };

  /** Applies what is shown to each of many records; what else waits has its turn between them. */
  async function each<T>(items: readonly T[], shown: (item: T) => T): Promise<readonly T[]> {
    const all: T[] = [];
    for (const item of items) {
      all.push(shown(item));
      await new Promise((resolve) => setImmediate(resolve));
    }
    return all;
  }

  async function page<T>(
    ownerId: string,
    read: Promise<Page<T>>,
    show: (item: T, hides: Hides) => T,
  ): Promise<Page<T>> {
    const [found, hides] = await Promise.all([read, hidesFor(ownerId)]);
    return hides ? { ...found, items: await each(found.items, (item) => show(item, hides)) } : found;
  }

  async function one<T>(
    ownerId: string,
    read: Promise<T | undefined>,
    show: (item: T, hides: Hides) => T,
  ): Promise<T | undefined> {
    const [found, hides] = await Promise.all([read, hidesFor(ownerId)]);
    return found && hides ? show(found, hides) : found;
  }

  const showing: Showing = {
    listEmissions: (channel, query, withBody) =>
      page(channel.ownerId, store.listEmissions(channel, query, withBody), (record, hides) =>
        shownRecord(record, hides(record.emitterId, ...record.ledBy)),
      ),
    getEmission: (ownerId, entry) =>
      one(ownerId, store.getEmission(ownerId, entry), (emission, hides) =>
        shownEmission(emission, hidesEmission(emission, hides)),
      ),
    receipts: async (ownerId, entry) => {
      const [found, own] = await Promise.all([store.receipts(ownerId, entry), rules.read(ownerId)]);
      return own ? found.map((receipt) => shownReceipt(receipt, own.all)) : found;
    },
    readEmissions: async (ownerId, after) => {
      const [found, hides] = await Promise.all([store.readEmissions(ownerId, after), hidesFor(ownerId)]);
      const show = (emission: Emission) => (hides ? shownEmission(emission, hidesEmission(emission, hides)) : emission);
      return hides ? { ...found, items: await each(found.items, show) } : found;
    },
    emissionsAfter: async (channel, stretch, withBody) => {
      const [found, hides] = await Promise.all([
        store.emissionsAfter(channel, stretch, withBody),
        hidesFor(channel.ownerId),
      ]);
      return hides ? each(found, (record) => shownLogged(record, hides(record.emitterId, ...record.ledBy))) : found;
    },
    listLater: (ownerId, sourceId, query, withBody) =>
      page(ownerId, store.listLater(ownerId, sourceId, query, withBody), (record, hides) =>
        shownRecord(record, hides(sourceId)),
      ),
    listRuns: (of, query) =>
      page(of.ownerId, store.listRuns(of, query), (run, hides) =>
        shownRun(run, hides(run.runnableId, run.emitterId, ...run.ledBy)),
      ),
    getRun: (ownerId, run) =>
      one(ownerId, store.getRun(ownerId, run), (whole, hides) =>
        shownWhole(whole, hides(whole.runnableId, whole.emitterId, ...whole.ledBy)),
      ),
    searchErrors: async (search, query, withBody) => {
      const own = await rules.read(search.ownerId);
      if (!own) return store.searchErrors(search, query, withBody);
      const found = await store.searchErrors({ ...search, shown: (message) => own.all.text(message) }, query, withBody);
      const items = await each(found.items, (item) => {
        const hides = own.of([item.emission.emitterId, ...item.emission.ledBy]);
        const emission = shownRecord(item.emission, hides);
        return { ...item, emission, error: { ...item.error, msg: hides?.text(item.error.msg) ?? item.error.msg } };
      });
      return { ...found, items };
    },
    searchRuns: async (search, query) => {
      const own = await rules.read(search.ownerId);
      if (!own) return store.searchRuns(search, query);
      const found = await store.searchRuns({ ...search, shown: own.all }, query);
      const items = await each(found.items, (run) =>
        shownRun(run, own.of([run.runnableId, run.emitterId, ...run.ledBy])),
      );
      return { ...found, items };
    },
    listDeliveries: (of, query) =>
      page(of.ownerId, store.listDeliveries(of, query), (record, hides) =>
        shownDeliveryRecord(record, hides(record.emitterId, ...record.ledBy)),
      ),
    resendDelivery: async (ownerId, delivery) => {
      const hides = await hidesFor(ownerId);
      const resent = await store.resendDelivery(ownerId, delivery);
      return typeof resent === 'object' && hides
        ? shownDeliveryRecord(resent, hides(resent.emitterId, ...resent.ledBy))
        : resent;
    },
    getDelivery: (ownerId, delivery) =>
      one(ownerId, store.getDelivery(ownerId, delivery), (whole, hides) =>
        shownDelivery(whole, hides(whole.record.emitterId, ...whole.record.ledBy)),
      ),
    listErrorGroups: (of, query) =>
      page(of.ownerId, store.listErrorGroups(of, query), (group, hides) => shownGroup(group, hides(group.emitterId))),
    searchErrorGroups: async (search, query) => {
      const own = await rules.read(search.ownerId);
      if (!own) return store.searchErrorGroups(search, query);
      const shown = (group: ErrorGroup): ErrorGroup => shownGroup(group, own.of([group.emitterId]));
      const found = await store.searchErrorGroups({ ...search, shown }, query);
      return { ...found, items: await each(found.items, shown) };
    },
    getErrorGroup: (ownerId, id) =>
      one(ownerId, store.getErrorGroup(ownerId, id), (whole, hides) => ({
        ...whole,
        group: shownGroup(whole.group, hides(whole.group.emitterId)),
      })),
    updateErrorGroup: (ownerId, id, change, check) =>
      one(ownerId, store.updateErrorGroup(ownerId, id, change, check), (changed, hides) => ({
        ...changed,
        group: shownGroup(changed.group, hides(changed.group.emitterId)),
      })),
    sourceState: (ownerId, sourceId, skip) =>
      one(ownerId, store.sourceState(ownerId, sourceId, skip), (state, hides) => ({
        ...state,
        values: state.values.map((value) => shownValue(value, hides(sourceId))),
      })),
    readMemory: (ownerId, id) =>
      one(ownerId, store.readMemory(ownerId, id), (memory, hides) => shownMemory(memory, hides(id))),
    previewReplay: async (ownerId, order) => {
      const [preview, hides] = await Promise.all([store.previewReplay(ownerId, order), hidesFor(ownerId)]);
      if (!hides) return preview;
      const sample = preview.sample.map((candidate) => ({
        ...candidate,
        error: candidate.error && shownEmission(candidate.error, hidesEmission(candidate.error, hides)),
      }));
      return { ...preview, sample };
    },
  };
  return { ...store, ...showing };
}
