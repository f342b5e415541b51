// Builds a component's `this`: the values of its props, its methods bound to it, and the rest by inheritance. The same
// for `run`, hooks, methods, options and additionalProps.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeValue, givenValue, isFileStore, type PropDefinitions } from '../../../domain/props.ts';
import type { PropsInput } from '../../runner.ts';
import { httpRequest } from '../api/request-prop.ts';
import type { ServiceDb } from '../api/service-db.ts';
import { ConfigurationError } from '../errors.ts';
import { type AppLike, allDefinitions, type Callable, isApp, isSameApp, type LiveDefinition } from './definitions.ts';

/** The shape of users' components; every member may be missing or of another type. */
export interface Component extends AppLike {
  readonly key?: unknown;
  readonly name?: unknown;
  readonly description?: unknown;
  readonly version?: unknown;
  readonly dedupe?: unknown;
  readonly props?: Readonly<Record<string, unknown>>;
  readonly hooks?: Readonly<Record<string, unknown>>;
  readonly additionalProps?: unknown;
  readonly run?: Callable;
}

/** What a component's `this` gives access to. Absent members do not exist there: a step has no endpoints, for one. */
export interface ComponentBindings {
  readonly respond: (answer: unknown) => Promise<void>;
  readonly props?: PropsInput;
  readonly endpoints?: Readonly<Record<string, string>>;
  readonly db?: ServiceDb;
  /** Returns the API of the data store with this id. */
  readonly dataStore?: (id: string) => object;
  readonly emit?: (event: unknown, metadata?: unknown) => void;
  /** Registers a function to call when the run has ended. */
  readonly onEnd?: (clean: () => void) => void;
}

/** Returns a component's `this`, built again for every run: what code leaves on `this` is not seen by the next run. */
export function bindComponent(component: Component, bindings: ComponentBindings): object {
  const self = Object.create(component) as object;
  for (const name of METADATA) hideMember(self, name);
  const definitions = allDefinitions(component.props, bindings.props?.additionalProps);
  const apps = bindApps(component, definitions, bindings.props);
  for (const [name, definition] of Object.entries(definitions)) {
    defineMember(self, name, apps.get(name) ?? propValue(name, definition, bindings));
  }
  bindMethods(self, component.methods);
  if (bindings.emit !== undefined) defineMember(self, '$emit', bindings.emit);
  return self;
}

/**
 * What a component says of itself is not inherited by its `this`. Code reads props of these names there that are declared by
 * `additionalProps`, or nowhere: `this.description ?? event.description`.
 */
const METADATA = ['name', 'key', 'type', 'version', 'description', 'dedupe'] as const;

function hideMember(self: object, name: string): void {
  Object.defineProperty(self, name, { value: undefined, enumerable: false, configurable: true, writable: true });
}

/** Binds methods; getters and setters stay such, on the same `this`. */
function bindMethods(self: object, methods: Readonly<Record<string, unknown>> | undefined): void {
  for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(methods ?? {}))) {
    if (member.enumerable !== true) continue;
    if (member.get !== undefined || member.set !== undefined) {
      const [get, set] = [member.get?.bind(self), member.set?.bind(self)];
      Object.defineProperty(self, name, { get, set, enumerable: true, configurable: true });
    } else defineMember(self, name, typeof member.value === 'function' ? member.value.bind(self) : member.value);
  }
}

/** Defines a member; an assignment would fail when the component is frozen. */
function defineMember(self: object, name: string, value: unknown): void {
  Object.defineProperty(self, name, { value, enumerable: true, configurable: true, writable: true });
}

/**
 * Returns the bound apps by prop name. Apps that other apps use are shared with the component's own, where it has the
 * same one.
 */
function bindApps(
  component: Component,
  definitions: Readonly<Record<string, LiveDefinition>>,
  props: PropsInput | undefined,
): Map<string, object> {
  const bound = new Map<string, object>();
  const known: { app: AppLike; self: object }[] = [];
  for (const [name, definition] of Object.entries(definitions)) {
    if (!isApp(definition) || definition.disabled === true) continue;
    const app = withMethods(definition, component);
    const self = bindApp(app, authOf(name, props));
    bound.set(name, self);
    known.push({ app, self });
    // A propDefinition names the object that the code imported; the object under `props` may be a copy.
    const given = component.props?.[name];
    if (typeof given === 'object' && given !== null) known.push({ app: given as AppLike, self });
  }
  for (const { app, self } of [...known]) bindNested(self, { app, known, depth: 0 });
  return bound;
}

/**
 * Returns the app with its methods. What `additionalProps` returned has lost its functions; the component's own app of
 * that name has them.
 */
function withMethods(definition: LiveDefinition, component: Component): AppLike {
  if (definition.methods !== undefined) return definition;
  const own = Object.values(component.props ?? {}).find(
    (given) => typeof given === 'object' && given !== null && isApp(given) && isSameApp(given, definition),
  );
  return { ...definition, ...((own as AppLike | undefined) ?? {}) };
}

/** Returns an object that inherits from the app: it has `$auth`, and its methods are bound to it. */
export function bindApp(app: AppLike, auth: object): object {
  const self = Object.create(app) as object;
  defineMember(self, '$auth', auth);
  bindMethods(self, app.methods);
  return self;
}

const MAX_NESTED = 8;

/** Binds the apps among an app's own props and propDefinitions as members of its `this`. */
function bindNested(self: object, of: { app: AppLike; known: { app: AppLike; self: object }[]; depth: number }): void {
  const { app, known, depth } = of;
  if (depth === MAX_NESTED) return;
  const nested = { ...(app as Component).props, ...app.propDefinitions };
  for (const [name, definition] of Object.entries(allDefinitions(nested))) {
    if (!isApp(definition) || Object.hasOwn(self, name)) continue;
    const shared = known.find(
      (other) => isSameApp(other.app, definition) || isSameApp(other.app, nested[name] as AppLike),
    );
    const inner = shared?.self ?? bindApp(definition, {});
    defineMember(self, name, inner);
    if (shared !== undefined) continue;
    known.push({ app: definition, self: inner });
    bindNested(inner, { app: definition, known, depth: depth + 1 });
  }
}

/** Returns the account's fields, or those that were configured in place of an account. */
function authOf(name: string, props: PropsInput | undefined): object {
  const configured = props?.configuredProps[name] as { $auth?: object; authProvisionId?: string } | null | undefined;
  const fields = props?.accounts?.[name] ?? configured?.$auth;
  if (fields !== undefined) return { ...fields };
  if (configured?.authProvisionId === undefined) return {};
  const refused = props?.refusedAccounts?.[name];
  if (refused !== undefined) {
    throw new ConfigurationError(
      `Prop "${name}" names the account ${configured.authProvisionId}, which cannot be used: ${refused}`,
    );
  }
  throw new ConfigurationError(
    `Prop "${name}" names the account ${configured.authProvisionId}, which there is not (any more)`,
  );
}

function propValue(name: string, definition: LiveDefinition, bindings: ComponentBindings): unknown {
  if (definition.disabled === true) return undefined;
  const configured = bindings.props?.configuredProps[name];
  switch (definition.type) {
    case '$.interface.http':
      return { endpoint: bindings.endpoints?.[name] ?? null, respond: bindings.respond };
    case '$.interface.timer':
      return { type: definition.type, ...(givenValue(definition, configured) as object | undefined) };
    case '$.service.db':
      return bindings.db ?? NO_DB;
    case 'data_store':
      return dataStoreOf(givenValue(definition, configured), bindings);
    case 'http_request':
      return httpRequest(definition, configured);
    case 'sql':
      return sqlOf(givenValue(definition, configured));
    case 'dir':
      return isFileStore(definition) ? noFileStore(name, tempDir(bindings)) : tempDir(bindings);
    case 'alert':
      return undefined;
    default:
      return structuredCloneOf(codeValue(definition, configured));
  }
}

/** Returns the value that methods of database apps take: a query and its parameters. */
function sqlOf(given: unknown): unknown {
  if (given === undefined) return undefined;
  const sql = (typeof given === 'string' ? { value: given } : given) as Record<string, unknown>;
  const params = sql.params ?? sql.values ?? [];
  return { ...sql, query: sql.query ?? sql.value, params, values: params };
}

/** Creates a folder of this run, removed with its end. Components also look for its path in the environment. */
function tempDir({ onEnd }: ComponentBindings): string {
  const dir = mkdtempSync(join(tmpdir(), 'dir-'));
  process.env.STASH_DIR ??= tmpdir();
  onEnd?.(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/**
 * Returns what stands in for a folder of the hosted original's file store: the path of one of this run, and `open`, which
 * throws. (Rejected: files in that folder. Code emits the links to them, and the folder is gone when the event is read.)
 */
function noFileStore(name: string, path: string): object {
  const open = (): never => {
    throw new ConfigurationError(
      `Prop "${name}": there is no file store here, so its open() is not available: no file can be kept or linked to`,
    );
  };
  return { path, open, toString: () => path, toJSON: () => path };
}

/** Returns a copy: a default belongs to the component, so changes by one run must not last. */
function structuredCloneOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}

/** Returns the data store of a prop that is configured as an id, or as `{id}`. */
function dataStoreOf(configured: unknown, bindings: ComponentBindings): object | undefined {
  const id = typeof configured === 'string' ? configured : (configured as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' ? bindings.dataStore?.(id) : undefined;
}

/** Returns the definitions that `additionalProps` gets as its argument: a copy of each, which it may change. */
export function previousDefinitions(component: Component, additional: PropDefinitions): Record<string, unknown> {
  const all = allDefinitions(component.props, additional);
  return Object.fromEntries(Object.entries(all).map(([name, definition]) => [name, { ...definition }]));
}

const noDb = (): never => {
  throw new ConfigurationError("$.service.db is there for code that names it in its props as the text '$.service.db'");
};
const NO_DB = { get: noDb, set: noDb };
