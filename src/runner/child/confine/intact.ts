// Whether code has left the language as it was when it was loaded. Code that fails halfway, with JSON.stringify replaced,
// Object.prototype frozen or a global deleted, would have every later run of its process fail for something that it did not
// do. So the process is given up when a run fails that has left it like that: looked at then only, it costs nothing to others.
//
// What code adds to the globals is its own affair (it keeps state there), and what it changes while it is loaded is how it
// wants the language to be. Nothing here relies on what it looks at.

const { ownKeys, getOwnPropertyDescriptor, isExtensible } = Reflect;
const { is } = Object; // as `===`, but that Number.NaN is itself

const GLOBALS = [
  ...['Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'BigInt', 'RegExp', 'Date', 'Promise'],
  ...['Map', 'Set', 'WeakMap', 'WeakSet', 'ArrayBuffer', 'Uint8Array', 'Buffer', 'JSON', 'Math', 'Reflect', 'Proxy'],
  ...['TypeError', 'RangeError', 'SyntaxError', 'URL'],
];
/** Of these only which they are: libraries set members of `Error`, and those of the others are Node's to fill later. */
const NAMES = [
  'Error',
  'process',
  'console',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
];

interface Kept {
  readonly object: object;
  readonly isExtensible: boolean;
  readonly keys: readonly PropertyKey[];
  readonly values: readonly unknown[];
}

/** Looks now, and whenever it is asked whether all is still as it was. Never throws. */
export function watchLanguage(): () => boolean {
  const watched = keepAll();
  return () => {
    try {
      // By index: an iterator is of what code may have changed.
      for (let i = 0; i < watched.length; i++) if (!isAsKept(watched[i] as Kept)) return false;
      return true;
    } catch {
      return false;
    }
  };
}

/** Nothing where the code has changed while it was loaded what this itself needs. */
function keepAll(): readonly Kept[] {
  try {
    return [keep(globalThis, [...GLOBALS, ...NAMES]), keep(Function.prototype), keep(Error.prototype), ...members()];
  } catch {
    return [];
  }
}

function members(): Kept[] {
  const watched: Kept[] = [];
  for (const name of GLOBALS) {
    const object = heldBy(globalThis, name) as { readonly prototype?: unknown } | undefined;
    if (object === undefined) continue;
    watched.push(keep(object));
    if (typeof object.prototype === 'object' && object.prototype !== null) watched.push(keep(object.prototype));
  }
  return watched;
}

function keep(object: object, keys: readonly PropertyKey[] = ownKeys(object)): Kept {
  return { object, isExtensible: isExtensible(object), keys, values: keys.map((key) => heldBy(object, key)) };
}

function isAsKept({ object, isExtensible: was, keys, values }: Kept): boolean {
  if (isExtensible(object) !== was) return false;
  if (object !== globalThis && ownKeys(object).length !== keys.length) return false;
  for (let i = 0; i < keys.length; i++) if (!is(heldBy(object, keys[i] as PropertyKey), values[i])) return false;
  return true;
}

/** The value, or of an accessor its getter; undefined: there is no such property. */
function heldBy(object: object, key: PropertyKey): unknown {
  const descriptor = getOwnPropertyDescriptor(object, key);
  return descriptor?.get ?? descriptor?.value;
}
