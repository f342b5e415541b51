// The HTTP layer on a free port, over a real store and faked actions.

import type { TestContext } from 'node:test';
import type { TSchema } from 'typebox';
import { Errors } from 'typebox/value';
import type { NewEmission } from '../../../src/domain/emission.ts';
import { createUrls } from '../../../src/domain/endpoint.ts';
import { OWNER_SCOPES } from '../../../src/domain/keys.ts';
import type { RefusalCode } from '../../../src/domain/refusal.ts';
import type { Accepted, Actions, HttpDeps } from '../../../src/http/deps.ts';
import type { ApiDocument } from '../../../src/http/openapi/document.ts';
import { buildDocument } from '../../../src/http/openapi/openapi.ts';
import type { HttpBounds } from '../../../src/http/server/bounds.ts';
import { createHttpServer } from '../../../src/http/server/server.ts';
import { SignInLinks } from '../../../src/http/session/sign-in-links.ts';
import type { Random } from '../../../src/ports.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { type Opened, TestClock } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { MEMORY_FOLDER, openSqlite } from '../../support/sqlite/store.ts';
import { apiKey, OTHER_ID, OWNER_ID, RecordIds, sha256, T0_MS } from './records.ts';
import { type Seed, seedOf } from './seed.ts';

export const KEY = 'a-key-for-reading-and-writing';
/** Of the second owner. */
export const OTHER_KEY = 'a-key-of-another-owner-00';

export type Call = { readonly verb: string; readonly args: readonly unknown[] };

export interface Harness {
  readonly port: number;
  /** 0 unless asked for. */
  readonly metricsPort: number;
  /** The store with what the first owner does in it; at the moment `T0_MS`. */
  readonly stage: Stage;
  readonly seed: Seed;
  /** What was accepted by the ingress, oldest first. */
  readonly accepted: NewEmission[];
  /** Calls of actions other than `accept`. */
  readonly calls: Call[];
  readonly logged: { fields: object; name: string }[];
  /** By code, in the order in which they were answered. */
  readonly refused: RefusalCode[];
  call(method: string, path: string, more?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export interface CallOptions {
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  readonly json?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export type FakeActions = { [K in keyof Actions]?: (...args: never[]) => unknown };

/** A key of the first owner that may only look. */
export const addReadKey = ({ seed }: Pick<Harness, 'seed'>): Promise<string> => seed.key(3, ['read']);

/** Bytes that give the store the tag `tag42`. */
const TAG_RANDOM: Random = {
  bytes: (count) => Uint8Array.from({ length: count }, (_, i) => [29, 10, 16, 4, 2][i % 5] as number),
  fraction: () => 0.5,
};

/** An empty store with two owners and a key of each. */
async function openStage(): Promise<{ stage: Stage; opened: Opened }> {
  const clock = new TestClock();
  clock.ms = T0_MS;
  const opened = await openSqlite({ clock, random: TAG_RANDOM, parent: MEMORY_FOLDER });
  const stage = await Stage.on(opened.store, clock, new RecordIds());
  await stage.neighbour();
  await opened.store.createKey(apiKey(1, { scopes: OWNER_SCOPES }), sha256(KEY));
  await opened.store.createKey(apiKey(2, { ownerId: OTHER_ID, scopes: OWNER_SCOPES }), sha256(OTHER_KEY));
  return { stage, opened };
}

export function appended(n: number, more: Partial<Accepted['appended']> = {}): Accepted['appended'] {
  const claims = { runs: [], deliveries: [], runsWaiting: false, deliveriesWaiting: false };
  return {
    entry: n,
    emitId: `tag42${n}`,
    claims,
    firstRun: (T0_MS + n) * 1024,
    firstRunRefused: false,
    repeated: null,
    ...more,
  };
}

export interface Overrides extends Partial<Omit<HttpDeps, 'actions' | 'store'>> {
  readonly actions?: FakeActions;
  /** Verbs that behave otherwise than the store's. */
  readonly store?: Partial<Store>;
  readonly bounds?: Partial<HttpBounds>;
  /** Metrics at a port of their own, too. */
  readonly withMetrics?: boolean;
}

export async function startServer(t: TestContext, overrides: Overrides = {}): Promise<Harness> {
  const { actions = {}, store = {}, bounds = {}, withMetrics = false, ...others } = overrides;
  const { stage, opened } = await openStage();
  const accepted: NewEmission[] = [];
  const calls: Call[] = [];
  const logged: { fields: object; name: string }[] = [];
  const log = (fields: object, name: string) => void logged.push({ fields, name });
  const refused: RefusalCode[] = [];
  let port = 0;
  const deps: HttpDeps = {
    store: { ...stage.store, ...store },
    actions: recording({ accept: takingAll(accepted), findWait: () => OWNER_ID, ...actions }, calls),
    clock: stage.clock,
    ids: new RecordIds(),
    log: { debug: () => {}, info: log, warn: log, error: log },
    metrics: {
      text: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }),
      enveloped: () => undefined,
      refused: (code) => void refused.push(code),
    },
    quotas: {
      takeRequest: () => undefined,
      takeStored: () => undefined,
      set: () => Promise.reject(new Error('no fake for set')),
      show: () => Promise.reject(new Error('no fake for show')),
    },
    streams: { openStream: () => Promise.reject(new Error('no fake for openStream')) },
    lineageIn: () => [],
    urls: createUrls({ publicUrl: null, endpointHosts: null }, () => `http://127.0.0.1:${port}`),
    signInLinks: new SignInLinks(),
    installation: { settings: [], checkTarget: () => Promise.reject(new Error('no fake for checkTarget')) },
    dashboard: null,
    maxBodyBytes: 512 * 1024,
    isApi: true,
    canBundle: () => true,
    leaving: () => false,
    draining: () => false,
    ...others,
  };
  const server = await createHttpServer(deps, bounds);
  ({ port } = await server.listen({ host: '127.0.0.1', port: 0 }));
  const at = { host: '127.0.0.1', port: 0 };
  const metricsPort = withMetrics ? (await server.listenForMetrics(at)).port : 0;
  t.after(async () => {
    await server.stop();
    await opened[Symbol.asyncDispose]();
  });
  const call = (method: string, path: string, more: CallOptions = {}) => callServer({ port, method, path }, more);
  const seed = seedOf(stage.store);
  return { port, metricsPort, stage, seed, accepted, calls, logged, refused, call, stop: () => server.stop() };
}

function takingAll(accepted: NewEmission[]): Actions['accept'] {
  return async (emission) => {
    accepted.push(emission);
    return { appended: appended(accepted.length), answer: null };
  };
}

function recording(fakes: FakeActions, calls: Call[]): Actions {
  return new Proxy({} as Actions, {
    get: (_target, verb: string) => {
      const fake = fakes[verb as keyof Actions] as ((...args: unknown[]) => unknown) | undefined;
      return async (...args: unknown[]) => {
        if (verb !== 'accept' && verb !== 'findWait') calls.push({ verb, args });
        if (!fake) throw new Error(`no fake for ${verb}`);
        return fake(...args);
      };
    },
  });
}

interface Target {
  readonly port: number;
  readonly method: string;
  readonly path: string;
}

async function callServer({ port, method, path }: Target, more: CallOptions): Promise<Answer> {
  const { key = KEY, json } = more;
  const body = json === undefined ? more.body : JSON.stringify(json);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...more.headers,
    },
    body,
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  const parsed = isJson && text !== '' ? JSON.parse(text) : undefined;
  if (response.ok && path.startsWith('/v1/') && method !== 'HEAD') await checkAgainstDocument({ method, path }, parsed);
  return { status: response.status, headers: response.headers, text, json: parsed };
}

let document: Promise<ApiDocument> | undefined;

/** Every good answer of the API must be what the OpenAPI document promises. */
async function checkAgainstDocument(of: { method: string; path: string }, answer: unknown): Promise<void> {
  // Fields were chosen: what is left out is not missing.
  if (/[?&](include|exclude)=/.test(of.path)) return;
  document ??= buildDocument();
  const { paths, components } = await document;
  const path = of.path.split('?', 1)[0]?.replaceAll('%24', '$') as string;
  const template = Object.keys(paths).find((one) => {
    const pattern = one.replace(/[$.]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${pattern}$`).test(path) && one.split('/').length === path.split('/').length;
  });
  const operation = paths[template ?? '']?.[of.method.toLowerCase()];
  if (!operation) throw new Error(`${of.method} ${path} is not in the OpenAPI document`);
  const good = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  const schema = inlined(Object.values(good?.[1].content ?? {})[0]?.schema, components.schemas as object) as TSchema;
  const errors = Errors(schema, answer);
  if (errors.length > 0) throw new Error(`${of.method} ${path} breaks its schema: ${JSON.stringify(errors)}`);
}

export function inlined(node: unknown, schemas: object): unknown {
  if (Array.isArray(node)) return node.map((item) => inlined(item, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref } = node as { $ref?: string };
  if ($ref !== undefined)
    return inlined((schemas as Record<string, unknown>)[$ref.split('/').at(-1) as string], schemas);
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, inlined(value, schemas)]));
}
