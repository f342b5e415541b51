// Props of components: what their code declares, and what callers have configured. Used by the check of props (engine) and
// by the code that resolves them (runner/child), so that both mean the same value. Only the child follows `propDefinition`s
// and calls `options` and `additionalProps`; their answers are stored, so that runs need not call them.

/** In its long form, as written in code or received from a child process (then without functions). */
export interface PropDefinition {
  readonly type?: string;
  readonly label?: string;
  readonly description?: string;
  readonly optional?: boolean;
  /** The value is never shown, not even to the caller that sent it: answers end up in logs. */
  readonly secret?: boolean;
  readonly default?: unknown;
  /** A fixed value of the author: callers cannot set another. */
  readonly static?: unknown;
  readonly min?: number;
  readonly max?: number;
  /** Treated as absent. */
  readonly disabled?: boolean;
  /** Not asked for: the value may be missing. */
  readonly hidden?: boolean;
  /** The code gets `{label, value}`. */
  readonly withLabel?: boolean;
  /** A change of the value calls `additionalProps` again. */
  readonly reloadProps?: boolean;
  readonly customResponse?: boolean;
  /** Of a dir: what the code does with it, and whether its files are those of the run's folder for temporary files. */
  readonly accessMode?: string;
  readonly sync?: boolean;
  /** Of an app: the app's name. */
  readonly app?: string;
  /** Of an app, set by the child process: the code needs an account's fields. */
  readonly usesAuth?: boolean;
  /** The values to choose from. */
  readonly options?: unknown;
  /** Set by the child process: `options` is a function. */
  readonly remoteOptions?: boolean;
  /** Set by the child process: why the definition is incomplete, to be read behind the prop's name. */
  readonly unresolved?: string;
}

export type PropDefinitions = Readonly<Record<string, PropDefinition>>;

/** What `additionalProps` threw. */
export interface AdditionalPropsError {
  readonly message: string;
  readonly stack: string;
}

/** All props of a component for a configuration. */
export interface ReloadedProps {
  readonly definitions: PropDefinitions;
  /** Null: `additionalProps` threw nothing. Else its last answer stands. */
  readonly error: AdditionalPropsError | null;
}

/** By the prop's name. */
export type PropValues = Readonly<Record<string, unknown>>;

/** The props of a step or a source. */
export interface ComponentProps {
  /** As sent by the caller. */
  readonly configured: PropValues;
  /** The answer of `additionalProps`, stored so that runs need not call it again. */
  readonly additional: PropDefinitions;
  /** Names of props whose values are not shown. */
  readonly secret: readonly string[];
}

/** Merges both: `additional` overrides the members that it names. */
export function mergedDefinitions(own: PropDefinitions, additional: PropDefinitions): PropDefinitions {
  const merged: Record<string, PropDefinition> = { ...own };
  for (const [name, definition] of Object.entries(additional)) {
    // Not an assignment: `__proto__` is a possible name.
    const value = { ...(Object.hasOwn(own, name) ? own[name] : {}), ...definition };
    Object.defineProperty(merged, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return merged;
}

/** Returns whether a prop is a folder in the hosted original's file store, whose files code opens by its `open`. */
export function isFileStore({ type, accessMode, sync, disabled }: PropDefinition): boolean {
  return type === 'dir' && accessMode === 'write' && sync !== true && disabled !== true;
}

/** Returns the configured value, or the default; undefined: neither. */
export function givenValue(definition: PropDefinition, given: unknown): unknown {
  if (definition.disabled === true) return undefined;
  const configured = asChosen(definition, given);
  // The configuration decides which data stores the code may reach, not the code.
  if (definition.type === 'data_store') return plainValue(configured) ?? undefined;
  if (definition.static !== undefined && definition.static !== null) return definition.static;
  return plainValue(configured) ?? plainValue(definition.default) ?? undefined;
}

/** Returns the value that code gets for a prop of strings, numbers, objects and so on. */
export function codeValue(definition: PropDefinition, configured: unknown): unknown {
  const value = givenValue(definition, configured);
  if (value === undefined) return undefined;
  if (definition.withLabel !== true) return coerced(definition.type, value);
  const chosen = definition.static === undefined ? asChosen(definition, configured) : undefined;
  return labelled(labelsOf(chosen) ?? labelsOf(definition.default) ?? value, definition.type);
}

interface Labelled {
  readonly label?: unknown;
  readonly value?: unknown;
}

/**
 * Returns the labels of a value, without the values. Forms send `{__lv: {label, value}}`, or `{__lv: [{label, value}, …]}`, for
 * a chosen value.
 */
function labelsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.some(isChosen) ? value.map((item) => labelsOf(item) ?? item) : undefined;
  return isChosen(value) ? value.__lv : undefined;
}

/** Returns a value as forms send it: of a prop `withLabel`, `{label, value}` will do, as `options` gives it, unless its values may be objects. */
function asChosen({ type, withLabel }: PropDefinition, value: unknown): unknown {
  if (withLabel !== true || !/^(string|integer|boolean)(\[\])?$/.test(type ?? '')) return value;
  const chosen = (item: unknown): unknown => (isOption(item) ? { __lv: item } : item);
  return Array.isArray(value) ? value.map(chosen) : chosen(value);
}

function isOption(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'label' in item && 'value' in item;
}

function isChosen(value: unknown): value is { readonly __lv: unknown } {
  return typeof value === 'object' && value !== null && '__lv' in value;
}

function plainValue(value: unknown): unknown {
  const labels = labelsOf(value);
  if (labels === undefined) return value;
  return Array.isArray(labels) ? labels.map(valueIn) : valueIn(labels);
}

function valueIn(labels: unknown): unknown {
  return typeof labels === 'object' && labels !== null && 'value' in labels ? (labels as Labelled).value : labels;
}

/** Returns a value with its label. A value without a label is its own label. */
function labelled(labels: unknown, type: string | undefined): unknown {
  if (Array.isArray(labels)) return labels.map((item) => labelled(item, type?.replace(/\[\]$/, '')));
  if (typeof labels !== 'object' || labels === null || !('value' in labels)) {
    return { label: String(labels), value: coerced(type, labels) };
  }
  const { label, value } = labels as Labelled;
  return { ...labels, label: label ?? String(value), value: coerced(type, value) };
}

const WHOLE = /^-?\d{1,16}$/;

/** Turns digits into an integer: forms and command lines send no numbers. */
export function coerced(type: string | undefined, value: unknown): unknown {
  if (type === 'integer[]' && Array.isArray(value)) return value.map((item) => coerced('integer', item));
  if (type !== 'integer' || typeof value !== 'string' || !WHOLE.test(value.trim())) return value;
  return Number(value);
}
