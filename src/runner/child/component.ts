// A component's `this`: its props' values, its methods bound to it, and the rest of it by inheritance.

import { ConfigurationError } from './errors.ts';
import type { SourceDb } from './source-db.ts';

type Callable = (...args: unknown[]) => unknown;

/** What users' components look like; nothing of it is certain. */
export interface Component {
  readonly type?: unknown;
  readonly key?: unknown;
  readonly name?: unknown;
  readonly description?: unknown;
  readonly version?: unknown;
  readonly dedupe?: unknown;
  readonly props?: Readonly<Record<string, unknown>>;
  readonly methods?: Readonly<Record<string, unknown>>;
  readonly hooks?: Readonly<Record<string, unknown>>;
  readonly run?: Callable;
  readonly propDefinitions?: Readonly<Record<string, unknown>>;
}

export interface Surroundings {
  readonly respond: (answer: unknown) => Promise<void>;
  readonly configuredProps?: Readonly<Record<string, unknown>>;
  readonly endpoints?: Readonly<Record<string, string>>;
  readonly db?: SourceDb;
  /** Of this id. */
  readonly dataStore?: (id: string) => object;
  readonly emit?: (event: unknown, metadata?: unknown) => void;
}

/** Made anew for every run: what code leaves on `this` is not seen by the next one. */
export function bindComponent(component: Component, around: Surroundings): object {
  const self = Object.create(component) as object;
  for (const [name, definition] of Object.entries(component.props ?? {})) {
    defineMember(self, name, propValue(name, definition, around));
  }
  bindMethods(self, component.methods);
  if (around.emit !== undefined) defineMember(self, '$emit', around.emit);
  return self;
}

function bindMethods(self: object, methods: Readonly<Record<string, unknown>> | undefined): void {
  for (const [name, method] of Object.entries(methods ?? {})) {
    defineMember(self, name, typeof method === 'function' ? method.bind(self) : method);
  }
}

/** Not an assignment: the component may be frozen, and would then refuse one through inheritance. */
function defineMember(self: object, name: string, value: unknown): void {
  Object.defineProperty(self, name, { value, enumerable: true, configurable: true, writable: true });
}

function propValue(name: string, given: unknown, around: Surroundings): unknown {
  const definition = definitionOf(given);
  const configured = around.configuredProps?.[name];
  switch (definition.type) {
    case 'app':
      return boundApp(definition, configured);
    case '$.interface.http':
      return { endpoint: around.endpoints?.[name] ?? null, respond: around.respond };
    case '$.service.db':
      return around.db ?? NO_DB;
    case 'data_store':
      return dataStoreOf(configured ?? definition.default, around);
    default:
      return configured === undefined ? structuredCloneOf(definition.default) : configured;
  }
}

/** A prop's long form: a bare string is its type, a `propDefinition` is merged under the prop's own keys. */
export function definitionOf(given: unknown): Record<string, unknown> {
  if (typeof given === 'string') return { type: given };
  if (typeof given !== 'object' || given === null) return {};
  const { propDefinition, ...own } = given as Record<string, unknown>;
  if (!Array.isArray(propDefinition)) return given as Record<string, unknown>;
  const [app, name] = propDefinition as [Component | undefined, string];
  return { ...definitionOf(app?.propDefinitions?.[name]), ...own };
}

function boundApp(app: Component, configured: unknown): object {
  const self = Object.create(app) as object;
  const auth = (configured as { $auth?: unknown } | null | undefined)?.$auth;
  defineMember(self, '$auth', auth ?? {});
  bindMethods(self, app.methods);
  return self;
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

const noDb = (): never => {
  throw new ConfigurationError('$.service.db is available in sources, not in workflow steps');
};
const NO_DB = { get: noDb, set: noDb };
