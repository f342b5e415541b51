// Everything of an owner as lines of an export (NDJSON): configuration first, then what has happened, read page by page as the
// reader takes it. Each line has an id, behind which the export goes on; it says what it is (`type`) and has its record as the
// interface shows it to a key that may only read. So there are no signing secrets, values of accounts, keys or tokens in it.

import { isUtf8 } from 'node:buffer';
import { utf8 } from '../../../../domain/bytes.ts';
import { seenIdOf } from '../../../../domain/dedupe.ts';
import { HEALTHY } from '../../../../domain/delivery/health.ts';
import { EMAIL, type Emission, HTTP, NOTICE } from '../../../../domain/emission.ts';
import type { Urls } from '../../../../domain/endpoint.ts';
import { entryOf, msOf, recordId } from '../../../../domain/ids.ts';
import { LIMITS } from '../../../../domain/limits.ts';
import { Refusal } from '../../../../domain/refusal.ts';
import type { WholeSource, WholeWorkflow } from '../../../../domain/requests.ts';
import type { GroupPlace } from '../../../../store/contract/error-groups.ts';
import type { Page, PageQuery } from '../../../../store/contract/records.ts';
import type { Store } from '../../../../store/contract/store.ts';
import { Verbatim } from '../../../body/json.ts';
import { accountToWire } from '../../../wire/accounts.ts';
import { auditToWire } from '../../../wire/audit.ts';
import { dataStoreToWire, recordToWire } from '../../../wire/data-stores.ts';
import { heartbeatToWire } from '../../../wire/heartbeats.ts';
import { deliveryToWire } from '../../../wire/log/deliveries.ts';
import { laterToWire } from '../../../wire/log/emissions.ts';
import { groupWholeToWire } from '../../../wire/log/error-groups.ts';
import { ledgerToWire } from '../../../wire/log/ledger.ts';
import { operationToWire } from '../../../wire/log/operations.ts';
import { redactionToWire } from '../../../wire/log/redaction.ts';
import { replayResultToWire } from '../../../wire/log/replay-results.ts';
import { runToWire } from '../../../wire/log/runs.ts';
import { channelToWire } from '../../../wire/notices/channels.ts';
import { keyToWire, ownerToWire } from '../../../wire/owners.ts';
import { quotasSet } from '../../../wire/quotas.ts';
import { sourceWholeToWire } from '../../../wire/sources.ts';
import { subscriptionToWire } from '../../../wire/subscriptions.ts';
import { webhookToWire } from '../../../wire/webhooks.ts';
import { deploymentToWire, workflowWholeToWire } from '../../../wire/workflows.ts';

export interface ExportedOwner {
  /** The store as people see it. */
  readonly store: Store;
  readonly urls: Urls;
  readonly getWorkflow: (ownerId: string, id: string) => Promise<WholeWorkflow>;
  readonly getSource: (ownerId: string, id: string) => Promise<WholeSource>;
}

export interface ExportLine {
  readonly id: string;
  readonly type: string;
  readonly record: object;
}

/** Yields the lines behind `after` (null: all). Throws `not_found`, and `malformed` for an `after` that no line has any more. */
export async function* ownerLines(
  of: ExportedOwner,
  ownerId: string,
  after: string | null,
): AsyncGenerator<ExportLine> {
  if (!(await of.store.getOwner(ownerId))) throw new Refusal('not_found', `there is no owner ${ownerId}`);
  const entry = after?.startsWith(EVENT) ? entryOf(after.slice(EVENT.length)) : undefined;
  let isBehind = after === null || entry !== undefined;
  if (entry === undefined) {
    for await (const line of configuration(of, ownerId)) {
      if (isBehind) yield line;
      isBehind ||= line.id === after;
    }
    if (!isBehind) {
      const message = `names no line of this export: ${after}`;
      throw new Refusal('malformed', `after ${message}`, { errors: [{ parameter: 'after', message }] });
    }
  }
  for (let at: number | null = entry ?? -1; at !== null; ) {
    const page: Awaited<ReturnType<Store['readEmissions']>> = await of.store.readEmissions(ownerId, at);
    for (const emission of page.items) yield eventLine(emission);
    at = page.next;
    await letOthers();
  }
}

/** Waits for all other work, which a store that answers without waiting would hold up while much is read. */
const letOthers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const EVENT = 'event:';

const lineOf = (type: string, id: string, record: object): ExportLine => ({ id: `${type}:${id}`, type, record });

async function* configuration(of: ExportedOwner, ownerId: string): AsyncGenerator<ExportLine> {
  const { store, urls } = of;
  const owner = await store.getOwner(ownerId);
  if (owner) yield lineOf('owner', ownerId, ownerToWire(owner));
  const quotas = (await store.listQuotas()).get(ownerId);
  if (quotas) yield lineOf('quotas', ownerId, { owner_id: ownerId, limits: quotasSet(quotas) });
  for (const key of await store.listKeys(ownerId)) yield lineOf('key', key.id, keyToWire(key));
  for (const [scopeId, redaction] of await store.redactionsOf(ownerId)) {
    yield lineOf('redaction', scopeId, { scope_id: scopeId, ...redactionToWire(redaction) });
  }
  yield* runnables(of, ownerId);
  const view = { health: HEALTHY, nowMs: store.clock.nowMs(), scopes: [] };
  for await (const one of each((page) => store.listWebhooks(ownerId, page))) {
    yield lineOf('webhook', one.id, webhookToWire(one, view));
  }
  for await (const one of each((page) => store.listSubscriptions({ ownerId }, page))) {
    yield lineOf('subscription', one.id, subscriptionToWire(one));
  }
  for await (const one of each((page) => store.listChannels(ownerId, page))) {
    yield lineOf('channel', one.id, channelToWire(one, false));
  }
  for await (const one of each((page) => store.listAccounts({ ownerId }, page))) {
    yield lineOf('account', one.id, accountToWire(one));
  }
  for await (const one of beats(store, ownerId)) {
    yield lineOf(
      'heartbeat',
      one.heartbeat.id,
      heartbeatToWire(one, (key) => `${urls.publicUrl()}/h/${key}`),
    );
  }
  yield* dataStores(store, ownerId);
  yield* errorGroups(store, ownerId);
  yield* operations(store, ownerId);
  yield lineOf('ledger', ownerId, ledgerToWire(await store.ledger(ownerId)));
  for await (const one of each((page) => store.listAudit({ ownerId }, page))) {
    yield lineOf('audit_record', one.id, auditToWire(one));
  }
  for await (const page of numbered(
    (query) => store.listDeliveries({ ownerId }, query),
    ({ delivery }) => delivery,
  )) {
    for (const one of page) yield lineOf('delivery', String(one.delivery), deliveryToWire(one, null));
  }
}

/** Yields workflows and sources with their code and memory, the versions of workflows, and all runs, also of what is deleted. */
async function* runnables(of: ExportedOwner, ownerId: string): AsyncGenerator<ExportLine> {
  const { store, urls } = of;
  for await (const { id, deploymentId } of each((page) => store.listWorkflows({ ownerId }, page))) {
    yield lineOf('workflow', id, workflowWholeToWire(await of.getWorkflow(ownerId, id), urls, true));
    for await (const deployment of each((page) => store.listDeployments(ownerId, id, page))) {
      await letOthers();
      const whole = await store.getDeployment(ownerId, deployment.id);
      const codes = whole?.steps.map(({ namespace, code }) => ({ namespace, code })) ?? [];
      yield lineOf('deployment', deployment.id, { ...deploymentToWire(deployment, deploymentId), codes });
    }
    yield* memory(store, ownerId, { workflow_id: id });
  }
  for await (const { id } of each((page) => store.listSources(ownerId, page))) {
    yield lineOf('source', id, sourceWholeToWire(await of.getSource(ownerId, id), urls.endpointUrl, true));
    for await (const page of numbered(
      (query) => store.listLater(ownerId, id, query, true),
      ({ entry }) => entry,
    )) {
      for (const one of page) yield lineOf('later_event', recordId(one.entry), laterToWire(one, true));
    }
    yield* memory(store, ownerId, { source_id: id });
  }
  for await (const page of numbered(
    (query) => store.listRuns({ ownerId }, query),
    ({ run }) => run,
  )) {
    for (const one of page) yield lineOf('run', String(one.run), runToWire(one));
  }
}

/** Yields what a workflow or source keeps between its runs, if that is anything. */
async function* memory(
  store: Store,
  ownerId: string,
  of: { readonly workflow_id: string } | { readonly source_id: string },
): AsyncGenerator<ExportLine> {
  const id = Object.values(of)[0] as string;
  const { db = [], seenIds = [] } = (await store.readMemory(ownerId, id)) ?? {};
  const values = db.map(({ name, value }) => ({ name, value: new Verbatim(utf8(value)) }));
  if (values.length + seenIds.length === 0) return;
  const seen = seenIds.map(seenIdOf).map(({ name, itemId }) => ({ event_name: name === '' ? null : name, id: itemId }));
  yield lineOf('memory', id, { ...of, db: values, seen_ids: seen });
}

async function* dataStores(store: Store, ownerId: string): AsyncGenerator<ExportLine> {
  for await (const one of each((page) => store.listDataStores(ownerId, page))) {
    yield lineOf('data_store', one.id, dataStoreToWire(one));
    const records = async (page: PageQuery) =>
      (await store.listRecords({ ownerId, storeId: one.id }, page)) ?? { items: [] };
    for (let after: string | undefined; ; ) {
      const { items } = await records({ limit: LIMITS.pageRecords, ...(after === undefined ? {} : { after }) });
      for (const record of items) {
        yield lineOf('data_record', `${one.id}/${record.key}`, { data_store_id: one.id, ...recordToWire(record) });
      }
      if (items.length === 0) break;
      after = items.at(-1)?.key;
      await letOthers();
    }
  }
}

/** Yields groups as they stand. Those with new errors meanwhile go to the front: they may be missing, and their errors are not. */
async function* errorGroups(store: Store, ownerId: string): AsyncGenerator<ExportLine> {
  for (let after: GroupPlace | undefined; ; ) {
    const query = { limit: LIMITS.pageRecords, ...(after === undefined ? {} : { after }) };
    const { items } = await store.listErrorGroups({ ownerId, sort: 'last_seen' }, query);
    for (const { id } of items) {
      await letOthers();
      const whole = await store.getErrorGroup(ownerId, id);
      if (whole) yield lineOf('error_group', id, groupWholeToWire(whole, []));
    }
    const last = items.at(-1);
    if (last === undefined) return;
    after = { value: last.lastEntry, id: last.id };
  }
}

/** Yields operations, and what became of the errors of each replay. */
async function* operations(store: Store, ownerId: string): AsyncGenerator<ExportLine> {
  for await (const { id, kind } of each((page) => store.listOperations({ ownerId }, page))) {
    const operation = await store.getOperation(ownerId, id);
    if (!operation) continue;
    yield lineOf('operation', id, operationToWire(operation));
    if (kind !== 'replay') continue;
    for await (const page of numbered(
      (query) => store.listReplayResults({ ownerId, operationId: id }, query),
      ({ entry }) => entry,
    )) {
      for (const one of page) {
        yield lineOf('replay_result', `${id}/${one.entry}`, { operation_id: id, ...replayResultToWire(one) });
      }
    }
  }
}

/** Requests of code may have credentials, and mails and notices quote errors, where rules of redaction do not reach all. */
const WITHOUT_EVENT: ReadonlySet<string> = new Set([HTTP, EMAIL, NOTICE]);

/** Returns an emission with its event, if that is shown. */
function eventLine(emission: Emission): ExportLine {
  const { entry, emitId, emitterId, originId, name, sourceType, summary, traceId, body } = emission;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const event = isUtf8(bytes) ? { event_text: bytes.toString('utf8') } : { event_base64: bytes.toString('base64') };
  const of = { emit_id: emitId, emitter_id: emitterId, origin_id: originId, name, source_type: sourceType };
  return lineOf('event', recordId(entry), {
    ...{ ...of, summary, trace_id: traceId, indexed_at_ms: msOf(entry) },
    ...(WITHOUT_EVENT.has(name) ? {} : event),
  });
}

async function* each<T extends { readonly id: string }>(
  read: (page: PageQuery) => Promise<Page<T>>,
): AsyncGenerator<T> {
  for (let after: string | undefined; ; ) {
    const { items } = await read({ limit: LIMITS.pageRecords, ...(after === undefined ? {} : { after }) });
    yield* items;
    if (items.length === 0) return;
    after = items.at(-1)?.id;
    await letOthers();
  }
}

async function* beats(store: Store, ownerId: string) {
  for (let after: string | undefined; ; ) {
    const query = { limit: LIMITS.pageRecords, ...(after === undefined ? {} : { after }) };
    const { items } = await store.listHeartbeats(ownerId, query);
    yield* items;
    if (items.length === 0) return;
    after = items.at(-1)?.heartbeat.id;
  }
}

async function* numbered<T>(
  read: (page: PageQuery<number>) => Promise<Page<T>>,
  numberOf: (record: T) => number,
): AsyncGenerator<readonly T[]> {
  for (let after: number | undefined; ; ) {
    const { items } = await read({ limit: LIMITS.pageRecords, ...(after === undefined ? {} : { after }) });
    const last = items.at(-1);
    if (last === undefined) return;
    yield items;
    after = numberOf(last);
    await letOthers();
  }
}
