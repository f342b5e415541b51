// Checks a configuration against a component's props. Every refusal names the prop.

import { hasExpression } from '../../domain/expressions.ts';
import { coerced, givenValue, type PropDefinition, type PropDefinitions, type PropValues } from '../../domain/props.ts';
import { Refusal } from '../../domain/refusal.ts';
import { accountIdOf } from '../resources/accounts.ts';
import type { PropStores } from './prop-stores.ts';
import { dataStoreIdOf, hasInlineAuth, whyNotApp, whyNotDataStore } from './references.ts';

/** Where the props belong, and their path in requests: `configured_props`, `steps.charge.configured_props`. */
export interface PropsPlace {
  readonly ownerId: string;
  readonly parameter: string;
  /** Whether expressions may replace values. */
  readonly ofStep?: boolean;
}

interface CheckedProps {
  readonly definitions: PropDefinitions;
  readonly configured: PropValues;
}

type Check = (value: unknown, definition: PropDefinition) => boolean;

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const JSON_TYPES: Readonly<Record<string, Check>> = {
  // Many options of string props have numbers or booleans as values, which code gets unchanged.
  string: (value, { options, remoteOptions }) =>
    typeof value === 'string' ||
    ((options !== undefined || remoteOptions === true) && (typeof value === 'number' || typeof value === 'boolean')),
  integer: (value) => Number.isSafeInteger(coerced('integer', value)),
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  any: () => true,
};

const SHOWN_PROPS = 20;

/** Props that the service provides, whatever is configured, and those that only forms show. */
const GIVEN = new Set(['$.service.db', '$.interface.http', '$.interface.timer', 'alert', 'dir']);

/** Throws `Refusal` (422) naming the missing, wrong, unknown or unsupported prop. */
export async function checkProps(stores: PropStores, place: PropsPlace, checked: CheckedProps): Promise<void> {
  const { definitions, configured } = checked;
  for (const prop of Object.keys(configured)) {
    if (!Object.hasOwn(definitions, prop)) refuse(place, prop, unknownProp(prop, Object.keys(definitions)));
  }
  for (const [prop, definition] of Object.entries(definitions)) {
    const value = checkOne(place, { prop, definition, configured: ownValue(configured, prop) });
    if (value !== undefined) await checkNamed(stores, place, { prop, definition, value });
  }
}

function unknownProp(prop: string, known: readonly string[]): string {
  const shown = known.slice(0, SHOWN_PROPS).join(', ');
  const has = known.length === 0 ? 'it has none' : `it has ${shown}${known.length > SHOWN_PROPS ? ', …' : ''}`;
  return `the component has no prop "${prop}"; ${has}`;
}

/** Checks only the given values: missing ones may be given later, or become unnecessary. */
export function checkGiven(place: PropsPlace, { definitions, configured }: CheckedProps): void {
  for (const [prop, definition] of Object.entries(definitions)) {
    const own = ownValue(configured, prop);
    if (own !== undefined && own !== null) checkOne(place, { prop, definition, configured: own });
  }
}

function ownValue(configured: PropValues, prop: string): unknown {
  return Object.hasOwn(configured, prop) ? configured[prop] : undefined;
}

interface ConfiguredProp {
  readonly prop: string;
  readonly definition: PropDefinition;
  readonly configured: unknown;
}

/** Returns why no component with such a prop runs here; null when it may. */
export function whyNotProp(prop: string, { type: own, disabled, unresolved }: PropDefinition): string | null {
  if (disabled === true) return null;
  if (own === undefined && typeof unresolved === 'string') return `prop "${prop}" ${unresolved}`;
  const type = own ?? 'any';
  if (GIVEN.has(type)) return null;
  if (type === '$.interface.apphook') {
    return `prop "${prop}" is an $.interface.apphook, which needs the app's vendor: it cannot run here`;
  }
  if (Object.hasOwn(SHAPES, type) || Object.hasOwn(JSON_TYPES, baseOf(type))) return null;
  if (type.startsWith('$.')) {
    return `prop "${prop}" has type ${type}, which only the vendor's service fills in: it cannot run here`;
  }
  return `prop "${prop}" has type ${type}, which is not known: see docs/components.md`;
}

/** Returns whether a prop that is not configured is refused. */
export function isNeeded({ type, optional, hidden, usesAuth }: PropDefinition): boolean {
  return optional !== true && hidden !== true && (type !== 'app' || usesAuth === true);
}

/** Returns the type of a list's items; another type is its own. */
function baseOf(type: string): string {
  return type.endsWith('[]') ? type.slice(0, -2) : type;
}

/** Returns the prop's value; undefined: none, and none is required. */
function checkOne(place: PropsPlace, { prop, definition, configured }: ConfiguredProp): unknown {
  const type = definition.type ?? 'any';
  if (definition.disabled === true || GIVEN.has(type)) return undefined;
  const whyNot = whyNotProp(prop, definition);
  if (whyNot !== null) refuse(place, prop, whyNot);
  const base = baseOf(type);
  const check = (SHAPES[type] ?? JSON_TYPES[base]) as Check;
  if (hasStatic(definition) && configured !== undefined && !isSame(configured, definition.static)) {
    refuse(place, prop, `prop "${prop}" has a fixed value (static) and cannot be configured`);
  }
  const value = valueFor(type, definition, configured);
  if (value === undefined) {
    if (isNeeded(definition)) refuseMissing(place, prop, type);
    return undefined;
  }
  const isPlain = Object.hasOwn(JSON_TYPES, base);
  // An expression's value is known when the step runs.
  const isLater = (item: unknown): boolean => isPlain && place.ofStep === true && hasExpression(item);
  // A default of another type is what the author's code expects; callers cannot correct it.
  const isAuthors = isPlain && (configured === undefined || configured === null);
  if (isLater(value)) return value;
  const isList = type !== base;
  const isTyped = (item: unknown): boolean => isLater(item) || check(item, definition);
  const isRight = isAuthors || (isList ? Array.isArray(value) && value.every(isTyped) : check(value, definition));
  if (!isRight) refuse(place, prop, `prop "${prop}" ${whyWrong(type, definition, value)}`);
  checkBounds(place, { prop, definition, configured: value });
  return value;
}

function whyWrong(type: string, definition: PropDefinition, value: unknown): string {
  if (type === 'app') return `is no account: ${whyNotApp(value)}`;
  return `is ${shown(definition, value)}; ${NEEDED[type] ?? `a value of type ${type}`} is needed`;
}

function refuseMissing(place: PropsPlace, prop: string, type: string): never {
  const how = type === 'app' ? ': {"authProvisionId": "apn_…"} names an account, {"$auth": {…}} gives its fields' : '';
  return refuse(place, prop, `prop "${prop}" (${type}) is required and was not configured${how}`);
}

function hasStatic({ static: own }: PropDefinition): boolean {
  return own !== undefined && own !== null;
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function valueFor(type: string, definition: PropDefinition, configured: unknown): unknown {
  const value = givenValue(definition, configured);
  if (type !== 'http_request' || !isObject(value) || !isObject(definition.default)) return value;
  return { ...(definition.default as object), ...(value as object) };
}

/** Types whose values have a shape of their own. */
const SHAPES: Readonly<Record<string, Check>> = {
  app: (value) => whyNotApp(value) === null,
  data_store: (value) => whyNotDataStore(value) === null,
  http_request: isRequest,
  sql: isSql,
};

const NEEDED: Readonly<Record<string, string>> = {
  data_store: 'the id of a data store ("ds_…")',
  http_request: '{"url": "https://…", "method", "headers": [{"name", "value"}], "params", "auth", "body"}',
  sql: '{"value": "SELECT …", "params": […]}, with expressions in "params" alone,',
};

/**
 * Returns whether a value may be a query with its values. Values must be bound: inside the text of a query they would be
 * executed.
 */
function isSql(given: unknown): boolean {
  const { value, query } = (isObject(given) ? given : { value: given }) as { value?: unknown; query?: unknown };
  return typeof (query ?? value) === 'string' && ![value, query].some(hasExpression);
}

function isRequest(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { url, method, headers, params, auth, body } = value as Record<string, unknown>;
  const isAbsent = (part: unknown): boolean => part === undefined || part === null;
  const isFields = (part: unknown): boolean => isAbsent(part) || typeof part === 'object';
  const isMethod = isAbsent(method) || (typeof method === 'string' && /^[a-z]+$/i.test(method));
  const isBody = isAbsent(body) || typeof body === 'string' || isObject(body);
  if (!isMethod || !isBody || ![headers, params].every(isFields) || !(isAbsent(auth) || isObject(auth))) return false;
  return typeof url === 'string' && (hasExpression(url) || /^https?:$/.test(URL.parse(url)?.protocol ?? ''));
}

function checkBounds(place: PropsPlace, { prop, definition, configured }: ConfiguredProp): void {
  const { type, min, max } = definition;
  if (type !== 'integer' && type !== 'integer[]') return;
  for (const item of [configured].flat()) {
    const value = coerced('integer', item) as number;
    const text = shown(definition, item);
    if (typeof min === 'number' && value < min)
      refuse(place, prop, `prop "${prop}" is ${text}; at least ${min} is needed`);
    if (typeof max === 'number' && value > max)
      refuse(place, prop, `prop "${prop}" is ${text}; at most ${max} is allowed`);
  }
}

const SHOWN_CHARS = 200;

function shown({ secret, type }: PropDefinition, value: unknown): string {
  // Accounts' fields and requests' credentials are secret, declared or not.
  if (secret || type === 'app' || type === 'http_request' || hasInlineAuth(value))
    return `a secret of type ${Array.isArray(value) ? 'array' : typeof value}`;
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}

/** Checks that accounts and data stores exist and belong to the owner. */
async function checkNamed(
  { accounts, dataStores }: PropStores,
  place: PropsPlace,
  { prop, definition, value }: { prop: string; definition: PropDefinition; value: unknown },
): Promise<void> {
  if (definition.type === 'app') {
    const id = accountIdOf(value);
    if (id === null) return;
    const account = await accounts.find(place.ownerId, id);
    if (account === undefined) {
      refuse(
        place,
        prop,
        `prop "${prop}" names the account ${id}, which does not exist: create one with POST /v1/accounts`,
      );
    }
    const { app } = definition;
    if (app === undefined || isSameApp(app, account.app)) return;
    refuse(place, prop, `prop "${prop}" needs an account of the app ${app}; ${id} is an account of ${account.app}`);
  }
  if (definition.type === 'data_store') {
    const id = dataStoreIdOf(value) as string;
    if (await dataStores.exists(place.ownerId, id)) return;
    refuse(
      place,
      prop,
      `prop "${prop}" names the data store ${id}, which does not exist: create one with POST /v1/data_stores`,
    );
  }
}

/** Compares names of apps, ignoring spelling: `google_sheets`, `Google Sheets` and `google-sheets` are equal. */
function isSameApp(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.toLowerCase().replace(/[\s_-]+/g, ''));
  return a === b;
}

/** Throws `Refusal` (422) naming the prop. */
export function refuse({ parameter }: PropsPlace, prop: string, message: string): never {
  throw new Refusal('impossible', message, { errors: [{ parameter: `${parameter}.${prop}`, message }] });
}
