// Finds what a person names: by its id, its name, or the beginning of either, when only one thing begins so.

import { type Errand, ProblemError } from '../../client/client.ts';
import { CliError, EXIT } from './exit.ts';

export interface Named {
  readonly id: string;
  readonly name?: string | null;
}

interface Kind {
  readonly noun: string;
  /** A whole id. */
  readonly id: RegExp;
  readonly list: (errand: Errand) => AsyncIterable<Named>;
  /** How many of the newest are looked at; null: all. */
  readonly newest: number | null;
}

const NEWEST = 500;

export async function* labelled<T extends { readonly id: string }>(
  records: AsyncIterable<T>,
  nameOf: (record: T) => string | null,
): AsyncGenerator<Named> {
  for await (const record of records) yield { id: record.id, name: nameOf(record) };
}

async function* nothing(): AsyncGenerator<never> {
  // There is no list of all.
}

export const KINDS = {
  workflow: { noun: 'workflow', id: /^p_\w{16}$/, list: (errand) => errand.listWorkflows(), newest: null },
  source: { noun: 'source', id: /^dc_\w{16}$/, list: (errand) => errand.listSources(), newest: null },
  webhook: { noun: 'webhook', id: /^wh_\w{16}$/, list: (errand) => errand.listWebhooks(), newest: null },
  channel: { noun: 'channel', id: /^ch_(\w{16}|mail)$/, list: (errand) => errand.listChannels(), newest: null },
  heartbeat: { noun: 'heartbeat', id: /^hb_\w{16}$/, list: (errand) => errand.listHeartbeats(), newest: null },
  account: { noun: 'account', id: /^apn_\w{16}$/, list: (errand) => errand.listAccounts(), newest: null },
  'data-store': { noun: 'data store', id: /^ds_\w{16}$/, list: (errand) => errand.listDataStores(), newest: null },
  owner: { noun: 'owner', id: /^u_\w{16}$/, list: (errand) => errand.listOwners(), newest: null },
  key: {
    noun: 'key',
    id: /^key_\w{16}$/,
    list: (errand) => labelled(errand.listKeys(), ({ label }) => label),
    newest: null,
  },
  subscription: {
    noun: 'subscription',
    id: /^sub_\w{16}$/,
    list: (errand) => errand.listSubscriptions(),
    newest: null,
  },
  // Listed for each workflow: see findDeployment.
  deployment: { noun: 'deployment', id: /^d_\w{16}$/, list: () => nothing(), newest: NEWEST },
  group: { noun: 'group of errors', id: /^eg_\w{16}$/, list: (errand) => errand.listErrorGroups(), newest: NEWEST },
  run: { noun: 'run', id: /^r_[0-9a-z]{10,11}$/, list: (errand) => errand.searchRuns(), newest: NEWEST },
  error: { noun: 'error', id: /^\d{13}-\d+$/, list: (errand) => errand.searchErrors(), newest: NEWEST },
  delivery: { noun: 'delivery', id: /^dl_[0-9a-z]{10,11}$/, list: (errand) => errand.listDeliveries(), newest: NEWEST },
  mail: {
    noun: 'mail',
    id: /^dl_[0-9a-z]{10,11}$/,
    list: (errand) => errand.listDeliveries({ kind: 'mail' }),
    newest: NEWEST,
  },
  operation: { noun: 'operation', id: /^op_\w{16}$/, list: (errand) => errand.listOperations(), newest: NEWEST },
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof KINDS;

/** What is newest can be named without its id. */
const LAST = 'last';
const SHOWN = 5;

/** Returns the id. Throws `CliError` when nothing, or more than one thing, fits. */
export async function findId(errand: Errand, kindName: KindName, given: string): Promise<string> {
  return findAmong(kindName, given, () => KINDS[kindName].list(errand));
}

/** Returns the name of what has this id, of a kind that has names and whose list is short; null: none is known. */
export async function nameOf(errand: Errand, kindName: KindName, id: string): Promise<string | null> {
  const kind: Kind = KINDS[kindName];
  if (kind.newest !== null) return null;
  for await (const record of kind.list(errand)) if (record.id === id) return record.name ?? null;
  return null;
}

/** Returns the id as `findId` does, of what `list` has. It is a request, which a whole id does not need. */
export async function findAmong(kindName: KindName, given: string, list: () => AsyncIterable<Named>): Promise<string> {
  const kind: Kind = KINDS[kindName];
  if (kind.id.test(given)) return given;
  const all: Named[] = [];
  for await (const record of list()) {
    if (record.id === given || (given === LAST && kind.newest !== null)) return record.id;
    all.push({ id: record.id, name: record.name ?? null });
    if (all.length === kind.newest) break;
  }
  if (given === LAST && kind.newest !== null) throw new CliError(`there is no ${kind.noun} yet`, EXIT.notFound);
  const other = Object.values(KINDS).find(({ id }) => id.test(given));
  if (other) throw new CliError(`${given} is the id of ${an(other.noun)}, and not of ${an(kind.noun)}`, EXIT.notFound);
  const lower = given.toLowerCase();
  const fits: ((record: Named) => boolean)[] = [
    ({ name }) => name === given,
    ({ id }) => given !== '' && id.startsWith(given),
    ({ name }) => given !== '' && (name ?? '').toLowerCase().startsWith(lower),
  ];
  for (const isFit of fits) {
    const found = all.filter(isFit);
    if (found.length === 1 && found[0]) return found[0].id;
    if (found.length > 1) throw ambiguous(kind.noun, given, found);
  }
  const where = kind.newest === null ? '' : ` among the newest ${kind.newest}`;
  throw new CliError(`there is no ${kind.noun} "${given}"${where}`, EXIT.notFound);
}

const an = (noun: string): string => `${/^[aeo]/.test(noun) ? 'an' : 'a'} ${noun}`;

function ambiguous(noun: string, given: string, found: readonly Named[]): CliError {
  const shown = found.slice(0, SHOWN).map(({ id, name }) => (name ? `${id} (${name})` : id));
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : '';
  return new CliError(`"${given}" fits more than one ${noun}: ${shown.join(', ')}${more}`, EXIT.notFound);
}

/** Returns the id of a deployment of one workflow; "last" is the newest. */
export function findDeployment(errand: Errand, workflowId: string, given: string): Promise<string> {
  return findAmong('deployment', given, async function* () {
    yield* (await errand.listDeployments({ id: workflowId })).data;
  });
}

/** What emits errors, and what can be told of them. */
const EMITTERS = ['workflow', 'source', 'webhook', 'heartbeat'] as const satisfies readonly KindName[];
/** What has runs. */
const RUNNERS = ['workflow', 'source'] as const satisfies readonly KindName[];
const LISTENERS = ['workflow', 'source', 'webhook'] as const satisfies readonly KindName[];

/** Returns the id of a workflow, source, webhook or heartbeat. */
export function findEmitter(errand: Errand, given: string): Promise<string> {
  return findOfKinds(errand, EMITTERS, given);
}

/** Returns the id of a workflow, source or webhook. */
export function findListener(errand: Errand, given: string): Promise<string> {
  return findOfKinds(errand, LISTENERS, given);
}

/** Returns the id of a workflow or source. */
export function findRunner(errand: Errand, given: string): Promise<string> {
  return findOfKinds(errand, RUNNERS, given);
}

/** Returns the id of something of one of these kinds; a name that several kinds have is that of the first. */
async function findOfKinds(errand: Errand, kinds: readonly KindName[], given: string): Promise<string> {
  if (kinds.some((kind) => KINDS[kind].id.test(given))) return given;
  for (const kind of kinds) {
    try {
      return await findId(errand, kind, given);
    } catch (error) {
      if (!(error instanceof CliError) || !error.message.startsWith('there is no')) throw error;
    }
  }
  const nouns = kinds.map((kind) => KINDS[kind].noun);
  throw new CliError(`there is no ${nouns.slice(0, -1).join(', ')} or ${nouns.at(-1)} "${given}"`, EXIT.notFound);
}

/** Returns a name with its id; the id alone where no name is known. */
export function titleOf(id: string, names: ReadonlyMap<string, string>): string {
  const name = names.get(id);
  return name === undefined ? id : `${name} (${id})`;
}

/** Returns names of workflows and sources by their ids, of so many as a list for people may need. */
export async function namesOf(errand: Errand): Promise<ReadonlyMap<string, string>> {
  return namesIn(await Promise.all([errand.listWorkflows(), errand.listSources()]));
}

/** Returns names as `namesOf` does, of all that errors are of. */
export async function namesOfEmitters(errand: Errand): Promise<ReadonlyMap<string, string>> {
  const pages = [errand.listWorkflows(), errand.listSources(), errand.listWebhooks(), errand.listHeartbeats()] as const;
  return namesIn(await Promise.all(pages));
}

/** Returns names as `namesOf` does, of all that emits and all that is sent to. */
export async function namesOfAll(errand: Errand): Promise<ReadonlyMap<string, string>> {
  const [emitters, channels] = await Promise.all([namesOfEmitters(errand), errand.listChannels()]);
  return new Map([...emitters, ...namesIn([channels])]);
}

function namesIn(pages: readonly { readonly data: readonly Named[] }[]): ReadonlyMap<string, string> {
  return new Map(pages.flatMap(({ data }) => data.flatMap(({ id, name }) => (name ? [[id, name] as const] : []))));
}

const LOOKS: Readonly<Record<string, (errand: Errand, id: string) => Promise<unknown>>> = {
  p: (errand, id) => errand.getWorkflow({ id }),
  dc: (errand, id) => errand.getSource({ id }),
  wh: (errand, id) => errand.getWebhook({ id }),
};

/**
 * Throws `CliError` when there is no workflow, source or webhook with this id. It is for empty lists, where a mistyped id would
 * read as good news: what was deleted may have a list all the same.
 */
export async function refuseMissing(errand: Errand, id: string): Promise<void> {
  try {
    await LOOKS[id.split('_')[0] ?? '']?.(errand, id);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== 404) throw error;
    throw new CliError(error.message, EXIT.notFound);
  }
}
