// Detects whether code has changed the language since it was loaded. Code that fails halfway, with JSON.stringify
// replaced, Object.prototype frozen or a global deleted, would make every later run of its process fail. So a process
// whose failed run left it changed takes no more runs. The check runs only then, and costs other runs nothing.
//
// Code may add globals (it keeps state there), and may change the language while it is loaded. This file uses nothing
// that it checks.

const { ownKeys, getOwnPropertyDescriptor, isExtensible } = Reflect;
const { is } = Object; // like `===`, but NaN equals itself

const GLOBALS = [
  ...['Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'BigInt', 'RegExp', 'Date', 'Promise'],
  ...['Map', 'Set', 'WeakMap', 'WeakSet', 'ArrayBuffer', 'Uint8Array', 'Buffer', 'JSON', 'Math', 'Reflect', 'Proxy'],
  ...['TypeError', 'RangeError', 'SyntaxError', 'URL'],
];
/** Compared by identity only: libraries set members of `Error`, and Node fills those of the others later. */
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

interface Snapshot {
  readonly object: object;
  readonly isExtensible: boolean;
  readonly keys: readonly PropertyKey[];
  readonly values: readonly unknown[];
}

/** Takes a snapshot now; the function returns whether everything is still the same. Neither throws. */
export function watchLanguage(): () => boolean {
  const snapshots = snapshotAll();
  return () => {
    try {
      // By index: code may have changed iterators.
      for (let i = 0; i < snapshots.length; i++) if (!isUnchanged(snapshots[i] as Snapshot)) return false;
      return true;
    } catch {
      return false;
    }
  };
}

/** Returns the snapshots; none when the code has already changed what taking them needs. */
function snapshotAll(): readonly Snapshot[] {
  try {
    return [
      snapshotOf(globalThis, [...GLOBALS, ...NAMES]),
      snapshotOf(Function.prototype),
      snapshotOf(Error.prototype),
      ...members(),
    ];
  } catch {
    return [];
  }
}

function members(): Snapshot[] {
  const snapshots: Snapshot[] = [];
  for (const name of GLOBALS) {
    const object = propertyOf(globalThis, name) as { readonly prototype?: unknown } | undefined;
    if (object === undefined) continue;
    snapshots.push(snapshotOf(object));
    if (typeof object.prototype === 'object' && object.prototype !== null) snapshots.push(snapshotOf(object.prototype));
  }
  return snapshots;
}

function snapshotOf(object: object, keys: readonly PropertyKey[] = ownKeys(object)): Snapshot {
  return { object, isExtensible: isExtensible(object), keys, values: keys.map((key) => propertyOf(object, key)) };
}

function isUnchanged({ object, isExtensible: was, keys, values }: Snapshot): boolean {
  if (isExtensible(object) !== was) return false;
  if (object !== globalThis && ownKeys(object).length !== keys.length) return false;
  for (let i = 0; i < keys.length; i++) if (!is(propertyOf(object, keys[i] as PropertyKey), values[i])) return false;
  return true;
}

/** Returns the value, or the getter of an accessor; undefined when there is no such property. */
function propertyOf(object: object, key: PropertyKey): unknown {
  const descriptor = getOwnPropertyDescriptor(object, key);
  return descriptor?.get ?? descriptor?.value;
}
