// Props of components: what their code asks for, and what callers have configured. Used where props are checked (engine)
// and where the code gets them (runner/child), so that both mean the same value. Only the child follows `propDefinition`s
// and asks `options` and `additionalProps`; what these answered is kept, so runs need not ask.

/** As the code wrote it, in its long form, or as it crossed from a child process: then without functions. */
export interface PropDefinition {
  readonly type?: string;
  readonly label?: string;
  readonly description?: string;
  readonly optional?: boolean;
  /** Its value is never shown, not even to the caller that has just sent it: answers end in logs. */
  readonly secret?: boolean;
  readonly default?: unknown;
  /** The author's own value: callers cannot set another. */
  readonly static?: unknown;
  readonly min?: number;
  readonly max?: number;
  /** As if the prop were not there. */
  readonly disabled?: boolean;
  /** Not asked for: it may be missing. */
  readonly hidden?: boolean;
  /** The code gets `{label, value}`. */
  readonly withLabel?: boolean;
  /** When its value changes, `additionalProps` is asked again. */
  readonly reloadProps?: boolean;
  readonly customResponse?: boolean;
  /** Of an app: its name. */
  readonly app?: string;
  /** Of an app, told by the child process: its code asks for an account's fields. */
  readonly usesAuth?: boolean;
  /** Told by the child process: `options` is a function. */
  readonly remoteOptions?: boolean;
}

export type PropDefinitions = Readonly<Record<string, PropDefinition>>;

/** By the prop's name. */
export type PropValues = Readonly<Record<string, unknown>>;

/** What a step or a source was given. */
export interface ComponentProps {
  /** As the caller sent it. */
  readonly configured: PropValues;
  /** What `additionalProps` answered, kept so that runs need not ask again. */
  readonly additional: PropDefinitions;
  /** Names of those that are not shown. */
  readonly secret: readonly string[];
}

/** `additional` lies over the component's own, and changes what it names. */
export function mergedDefinitions(own: PropDefinitions, additional: PropDefinitions): PropDefinitions {
  const merged: Record<string, PropDefinition> = { ...own };
  for (const [name, definition] of Object.entries(additional)) {
    // Not an assignment: `__proto__` is a possible name.
    const value = { ...(Object.hasOwn(own, name) ? own[name] : {}), ...definition };
    Object.defineProperty(merged, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return merged;
}

/** What stands in for a prop: what was configured, or its default. Undefined: nothing does. */
export function givenValue(definition: PropDefinition, configured: unknown): unknown {
  if (definition.disabled === true) return undefined;
  // The configuration says which data stores the code may reach, not the code.
  if (definition.type === 'data_store') return plainValue(configured) ?? undefined;
  if (definition.static !== undefined && definition.static !== null) return definition.static;
  return plainValue(configured) ?? plainValue(definition.default) ?? undefined;
}

/** What the code gets for a prop of strings, numbers, objects and so on. */
export function codeValue(definition: PropDefinition, configured: unknown): unknown {
  const value = givenValue(definition, configured);
  if (value === undefined) return undefined;
  if (definition.withLabel !== true) return coerced(definition.type, value);
  const chosen = definition.static === undefined ? configured : undefined;
  return labelled(labelsOf(chosen) ?? labelsOf(definition.default) ?? value, definition.type);
}

interface Labelled {
  readonly label?: unknown;
  readonly value?: unknown;
}

/** `{__lv: {label, value}}`, or `{__lv: [{label, value}, …]}`, is what forms send for a value that was chosen. */
function labelsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.some(isChosen) ? value.map((item) => labelsOf(item) ?? item) : undefined;
  return isChosen(value) ? value.__lv : undefined;
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

/** A value without a label is its own. */
function labelled(labels: unknown, type: string | undefined): unknown {
  if (Array.isArray(labels)) return labels.map((item) => labelled(item, type?.replace(/\[\]$/, '')));
  if (typeof labels !== 'object' || labels === null || !('value' in labels)) {
    return { label: String(labels), value: coerced(type, labels) };
  }
  const { label, value } = labels as Labelled;
  return { ...labels, label: label ?? String(value), value: coerced(type, value) };
}

const WHOLE = /^-?\d{1,16}$/;

/** Forms and command lines have no numbers: what they send for an integer is its digits. */
export function coerced(type: string | undefined, value: unknown): unknown {
  if (type === 'integer[]' && Array.isArray(value)) return value.map((item) => coerced('integer', item));
  if (type !== 'integer' || typeof value !== 'string' || !WHOLE.test(value.trim())) return value;
  return Number(value);
}
