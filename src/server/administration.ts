// Owners and keys for the command line: over the API of the server that runs on this data dir, or, when none runs, on its
// store (a database may be shared with servers elsewhere).

import { existsSync } from 'node:fs';
import type { Administration } from '../cli/administration.ts';
import { administrationOver } from '../cli/remote-administration.ts';
import { findRunning } from '../cli/running-server.ts';
import { CliError, EXIT } from '../cli/shell/exit.ts';
import type { Named } from '../cli/shell/find.ts';
import { Errand } from '../client/client.ts';
import { whyHidden } from '../closed-path.ts';
import type { AuditRecord } from '../domain/audit.ts';
import { createUrls } from '../domain/endpoint.ts';
import { PREFIX } from '../domain/ids.ts';
import type { ApiKey } from '../domain/keys.ts';
import { LIMITS } from '../domain/limits.ts';
import { NO_QUOTAS } from '../domain/quota.ts';
import type { Owner, Workflow } from '../domain/resource.ts';
import { createPrivacy } from '../engine/privacy/privacy.ts';
import { createOwnerDeletions } from '../engine/resources/owner-deletions.ts';
import { createOwners } from '../engine/resources/owners.ts';
import { listOwnTriggers } from '../engine/resources/triggers.ts';
import { wholeSource } from '../engine/sources/source-writes.ts';
import { withIsoTimes } from '../http/answers/iso-times.ts';
import { type ExportLine, ownerLines } from '../http/routes/admin/export/lines.ts';
import { AUDIT_RECORD, auditQuery, auditToWire } from '../http/wire/audit.ts';
import { KEY, keyToWire, OWNER, ownerToWire } from '../http/wire/owners.ts';
import { QUOTAS, quotasFromWire, quotasToWire } from '../http/wire/quotas.ts';
import type { Ids, Wake } from '../ports.ts';
import type { Page, PageQuery } from '../store/contract/records.ts';
import type { Store } from '../store/contract/store.ts';
import { type Config, dataPaths, maxOwnersOf } from './config.ts';
import { openStore, type StorePorts } from './open-store.ts';
import { createIds } from './real-ports.ts';

export async function administer<T>(
  config: Config,
  { key, ...ports }: StorePorts & { readonly key?: string },
  act: (administration: Administration) => Promise<T>,
): Promise<T> {
  const running = await findRunning(config, key);
  if (running) return act(administrationOver(new Errand(running)));
  refuseMissing(config);
  const store = await openStore(config, ports);
  try {
    return await act(onStore(store, createIds(store.clock, ports.random), config));
  } finally {
    await store.close();
  }
}

/** Returns whether there is a store for these settings: on the data dir, or in a database. */
export function hasStore({ databaseUrl, dataDir }: Config): boolean {
  return databaseUrl !== null || existsSync(dataPaths(dataDir).store);
}

/** Refuses a command in the wrong folder, where it would create a new store. */
function refuseMissing(config: Config): void {
  if (hasStore(config)) return;
  const why = whyHidden(dataPaths(config.dataDir).store);
  if (why !== null) throw new CliError(why);
  throw new CliError(
    `there is no store at ${dataPaths(config.dataDir).store}: ERRAND_DATA_DIR says where it is, and the first start makes it; --url and --profile name a server elsewhere`,
    EXIT.notFound,
  );
}

// The API adds the texts of times to all that it answers.
const shownOwner = (owner: Owner) => withIsoTimes(ownerToWire(owner), OWNER);
const shownKey = (key: ApiKey) => withIsoTimes(keyToWire(key), KEY);
const shownAudit = (record: AuditRecord) => withIsoTimes(auditToWire(record), AUDIT_RECORD);

/** The command line has no stream open. */
const NO_STREAMS: Wake = { notify: () => undefined };

function onStore(store: Store, ids: Ids, config: Config): Administration {
  const shared = { store, clock: store.clock, ids, wake: NO_STREAMS };
  const owners = createOwners({ ...shared, maxOwners: maxOwnersOf(config) });
  const deletions = createOwnerDeletions({ ...shared, ownerGraceDays: config.ownerGraceDays });
  const ownerOf = async (ownerId: string | null): Promise<string> => {
    const all = await store.listOwners();
    const found = ownerId === null ? all[0] : all.find(({ id }) => id === ownerId);
    if (!found) throw new CliError(ownerId === null ? 'the store has no owner yet' : `there is no owner ${ownerId}`);
    return found.id;
  };
  /** Writes an audit record before and after `act`, as the API does: see http/access/audit.ts. */
  const audited = async <T>(
    of: { operation: string; command: string; ownerId: string | undefined; targetId?: string },
    act: () => Promise<T>,
    idOf: (done: T) => string,
  ): Promise<T> => {
    const { operation, command, ownerId, targetId = null } = of;
    // The first owner of a store: no owner exists yet whose log could contain it.
    if (ownerId === undefined) return act();
    const from = { keyId: null, keyLabel: command, byOwnerId: null, method: 'COMMAND', path: command, clientIp: '' };
    const record = { id: ids.next(PREFIX.audit), ownerId, operation, targetId, ...from, requestId: '' };
    const begun = { ...record, status: null, count: 1, atMs: store.clock.nowMs() };
    await store.writeAudit([begun]);
    const done = await act();
    await store.writeAudit([{ ...begun, targetId: idOf(done), status: 200 }]);
    return done;
  };
  /** Records a deletion in the log of the first owner: that of the deleted one goes with it. */
  const ofDeletion = async (operation: string, targetId: string, act: () => Promise<Owner>) => {
    const ownerId = (await store.listOwners())[0]?.id;
    const command = `errand owners ${operation === 'deleteOwner' ? 'delete' : 'restore'}`;
    return shownOwner(await audited({ operation, command, ownerId, targetId }, act, ({ id }) => id));
  };
  return {
    createOwner: async (input) => {
      const ownerId = (await store.listOwners())[0]?.id;
      const { owner, key, apiKey } = await audited(
        { operation: 'createOwner', command: 'errand owners create', ownerId },
        () => owners.createOwner(input),
        (made) => made.owner.id,
      );
      return { ...shownOwner(owner), key: shownKey(key), api_key: apiKey };
    },
    async *listOwners() {
      yield* (await store.listOwners()).toReversed().map(shownOwner);
    },
    deleteOwner: (targetId) => ofDeletion('deleteOwner', targetId, () => deletions.deleteOwner(targetId, null)),
    restoreOwner: (targetId) => ofDeletion('restoreOwner', targetId, () => deletions.restoreOwner(targetId)),
    async *exportOwner(targetId) {
      const ownerId = (await store.listOwners())[0]?.id;
      const of = { operation: 'exportOwner', command: 'errand owners export', ownerId, targetId };
      await audited(
        of,
        async () => undefined,
        () => targetId,
      );
      yield* exported(store, config, targetId);
    },
    quotas: async (ownerId, change) => {
      const limits = {
        ...((await store.listQuotas()).get(await ownerOf(ownerId)) ?? NO_QUOTAS),
        ...quotasFromWire(change),
      };
      if (Object.keys(change).length > 0) {
        await audited(
          { operation: 'setOwnerQuotas', command: 'errand owners quotas', ownerId, targetId: ownerId },
          () => store.setQuotas(ownerId, limits),
          () => ownerId,
        );
      }
      // No process runs, so only stored bytes are used.
      const stored = (await store.storedBytes()).get(ownerId);
      const [storedBytes, storedBytesAtMs] = [stored?.bytes ?? null, stored?.measuredAtMs ?? null];
      const use = { processes: 0, cpuSecondsPerMinute: 0, requestsPerSecond: null, storedBytes, storedBytesAtMs };
      return withIsoTimes(quotasToWire(ownerId, { limits, use }), QUOTAS);
    },
    createKey: async (ownerId, input) => {
      const ofOwner = await ownerOf(ownerId);
      const { key, apiKey } = await audited(
        { operation: 'createKey', command: 'errand keys create', ownerId: ofOwner },
        () => owners.createKey(ofOwner, input, null),
        (made) => made.key.id,
      );
      // No DSN: the server's address is not known.
      return { ...shownKey(key), api_key: apiKey };
    },
    async *listKeys(ownerId) {
      yield* (await store.listKeys(await ownerOf(ownerId))).map(shownKey);
    },
    revokeKey: async (ownerId, keyId) => {
      const ofOwner = await ownerOf(ownerId);
      const key = await audited(
        { operation: 'revokeKey', command: 'errand keys revoke', ownerId: ofOwner, targetId: keyId },
        () => owners.revokeKey(ofOwner, keyId, null),
        ({ id }) => id,
      );
      return shownKey(key);
    },
    async *auditPages(ownerId, of) {
      const query = auditQuery(await ownerOf(ownerId), of);
      yield* pages((page) => store.listAudit(query, page), shownAudit);
    },
    async *listWorkflows(ownerId) {
      const of = { ownerId: await ownerOf(ownerId) };
      const name = ({ id, name }: Workflow): Named => ({ id, name });
      for await (const page of pages((page) => store.listWorkflows(of, page), name)) yield* page;
    },
  };
}

/** Yields what a server would show; addresses are those of `ERRAND_PUBLIC_URL`. */
function exported(store: Store, config: Config, ownerId: string): AsyncGenerator<ExportLine> {
  const urls = createUrls(config, () => `http://${config.host}:${config.port}`);
  const { shown } = createPrivacy(store, { clock: store.clock, ...urls });
  const getWorkflow = async (owner: string, id: string) => {
    const workflow = await shown.getWorkflow(owner, id);
    const deployment = workflow && (await shown.getDeployment(owner, workflow.deploymentId));
    if (!workflow || !deployment) throw new CliError(`the workflow ${id} was deleted meanwhile`);
    return { workflow, deployment, triggers: await listOwnTriggers(store, owner, id) };
  };
  const getSource = (owner: string, id: string) => wholeSource(shown, owner, id);
  return ownerLines({ store: shown, urls, getWorkflow, getSource }, ownerId, null);
}

async function* pages<T extends { readonly id: string }, U>(
  read: (page: PageQuery) => Promise<Page<T>>,
  map: (record: T) => U,
): AsyncGenerator<U[]> {
  for (let after: string | undefined; ; ) {
    const { items } = await read({ limit: LIMITS.pageRecords, ...(after === undefined ? {} : { after }) });
    if (items.length === 0) return;
    yield items.map(map);
    after = items.at(-1)?.id;
  }
}
