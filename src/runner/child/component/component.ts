// A component's `this`: its props' values, its methods bound to it, and the rest of it by inheritance. The same for `run`,
// hooks, methods, options and additionalProps.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeValue, givenValue, type PropDefinitions } from '../../../domain/props.ts';
import type { PropsInput } from '../../runner.ts';
import { httpRequest } from '../api/request-prop.ts';
import type { SourceDb } from '../api/source-db.ts';
import { ConfigurationError } from '../errors.ts';
import { type AppLike, allDefinitions, type Callable, isApp, isSameApp, type LiveDefinition } from './definitions.ts';

/** What users' components look like; nothing of it is certain. */
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

/** What a component's `this` leads to. What is not given is not there: a step has no db, and options have neither. */
export interface Surroundings {
  readonly respond: (answer: unknown) => Promise<void>;
  readonly props?: PropsInput;
  readonly endpoints?: Readonly<Record<string, string>>;
  readonly db?: SourceDb;
  /** Of this id. */
  readonly dataStore?: (id: string) => object;
  readonly emit?: (event: unknown, metadata?: unknown) => void;
  /** Called with what is to be done when the run has ended. */
  readonly onEnd?: (clean: () => void) => void;
}

/** RunProgress anew for every run: what code leaves on `this` is not seen by the next one. */
export function bindComponent(component: Component, around: Surroundings): object {
  const self = Object.create(component) as object;
  const definitions = allDefinitions(component.props, around.props?.additionalProps);
  const apps = bindApps(component, definitions, around.props);
  for (const [name, definition] of Object.entries(definitions)) {
    defineMember(self, name, apps.get(name) ?? propValue(name, definition, around));
  }
  bindMethods(self, component.methods);
  if (around.emit !== undefined) defineMember(self, '$emit', around.emit);
  return self;
}

/** Getters stay getters, of the same `this`. */
function bindMethods(self: object, methods: Readonly<Record<string, unknown>> | undefined): void {
  for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(methods ?? {}))) {
    if (member.enumerable !== true) continue;
    if (member.get !== undefined || member.set !== undefined) {
      const [get, set] = [member.get?.bind(self), member.set?.bind(self)];
      Object.defineProperty(self, name, { get, set, enumerable: true, configurable: true });
    } else defineMember(self, name, typeof member.value === 'function' ? member.value.bind(self) : member.value);
  }
}

/** Not an assignment: the component may be frozen, and would then refuse one through inheritance. */
function defineMember(self: object, name: string, value: unknown): void {
  Object.defineProperty(self, name, { value, enumerable: true, configurable: true, writable: true });
}

/** By prop name. Apps that are defined by other apps share theirs with the component's, where it has the same one. */
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
    // The object that the code imported is what a propDefinition names; what stands under `props` may be a copy.
    const given = component.props?.[name];
    if (typeof given === 'object' && given !== null) known.push({ app: given as AppLike, self });
  }
  for (const { app, self } of [...known]) bindNested(self, { app, known, depth: 0 });
  return bound;
}

/** What `additionalProps` answered has no functions any more: the component's own app of that name has them. */
function withMethods(definition: LiveDefinition, component: Component): AppLike {
  if (definition.methods !== undefined) return definition;
  const own = Object.values(component.props ?? {}).find(
    (given) => typeof given === 'object' && given !== null && isApp(given) && isSameApp(given, definition),
  );
  return { ...definition, ...((own as AppLike | undefined) ?? {}) };
}

/** An object of its own, made from the app: it has `$auth`, and its methods are bound to it. */
export function bindApp(app: AppLike, auth: object): object {
  const self = Object.create(app) as object;
  defineMember(self, '$auth', auth);
  bindMethods(self, app.methods);
  return self;
}

const MAX_NESTED = 8;

/** Apps among an app's own props and propDefinitions are members of its `this`. */
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

/** The account's fields, or those that were configured in place of an account. */
function authOf(name: string, props: PropsInput | undefined): object {
  const configured = props?.configuredProps[name] as { $auth?: object; authProvisionId?: string } | null | undefined;
  const fields = props?.accounts?.[name] ?? configured?.$auth;
  if (fields !== undefined) return { ...fields };
  if (configured?.authProvisionId === undefined) return {};
  throw new ConfigurationError(
    `Prop "${name}" names the account ${configured.authProvisionId}, which there is not (any more)`,
  );
}

function propValue(name: string, definition: LiveDefinition, around: Surroundings): unknown {
  if (definition.disabled === true) return undefined;
  const configured = around.props?.configuredProps[name];
  switch (definition.type) {
    case '$.interface.http':
      return { endpoint: around.endpoints?.[name] ?? null, respond: around.respond };
    case '$.interface.timer':
      return { type: definition.type, ...(givenValue(definition, configured) as object | undefined) };
    case '$.service.db':
      return around.db ?? NO_DB;
    case 'data_store':
      return dataStoreOf(givenValue(definition, configured), around);
    case 'http_request':
      return httpRequest(definition, configured);
    case 'sql':
      return sqlOf(givenValue(definition, configured));
    case 'dir':
      return tempDir(around);
    case 'alert':
      return undefined;
    default:
      return structuredCloneOf(codeValue(definition, configured));
  }
}

/** What the methods of database apps take: a query, and its parameters. */
function sqlOf(given: unknown): unknown {
  if (given === undefined) return undefined;
  const sql = (typeof given === 'string' ? { value: given } : given) as Record<string, unknown>;
  const params = sql.params ?? sql.values ?? [];
  return { ...sql, query: sql.query ?? sql.value, params, values: params };
}

/** A folder of this run, which goes with it. Components look for its name in the environment, too. */
function tempDir({ onEnd }: Surroundings): string {
  const dir = mkdtempSync(join(tmpdir(), 'dir-'));
  process.env.STASH_DIR ??= tmpdir();
  onEnd?.(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A default belongs to the component; what a run does to its copy must not last. */
function structuredCloneOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}

/** Configured as its id, or as `{id}`. */
function dataStoreOf(configured: unknown, around: Surroundings): object | undefined {
  const id = typeof configured === 'string' ? configured : (configured as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' ? around.dataStore?.(id) : undefined;
}

/** What a component's props are to `additionalProps`: a copy of each that it may change. */
export function previousDefinitions(component: Component, additional: PropDefinitions): Record<string, unknown> {
  const all = allDefinitions(component.props, additional);
  return Object.fromEntries(Object.entries(all).map(([name, definition]) => [name, { ...definition }]));
}

const noDb = (): never => {
  throw new ConfigurationError('$.service.db is available in sources, not in workflow steps');
};
const NO_DB = { get: noDb, set: noDb };
