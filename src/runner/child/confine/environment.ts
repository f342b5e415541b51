// Keeps what code writes into `process.env` from the C library and the other native parts of the process. They read
// variables whenever they need them, and open files that variables name, past Node's permission model: with
// RESOLV_HOST_CONF set, the next lookup of an address's name prints any file that the process's user may read.
//
// So `process.env` becomes a copy. The system learns only of changes of the variables that Node's own modules ask the
// system for. (Rejected: refusing the names that are known to be dangerous. Each library adds its own.)

import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

type Environment = Record<string, string | undefined>;

/** What `Date` and `Intl`, `os.homedir` and `os.tmpdir` ask the system for. */
const PASSED_ON: ReadonlySet<unknown> = new Set(['TZ', 'HOME', 'TMPDIR']);

const { defineProperty, entries, setPrototypeOf } = Object;
const isPassedOn = PASSED_ON.has.bind(PASSED_ON);

/** Replaces `process.env`. Must run before any user code, and before `guardProcess`. */
export function detachEnvironment(): void {
  const real = process.env;
  const copy: Environment = { ...real };
  delete copy.NODE_EXTRA_CA_CERTS; // how the server gives certificates, and no variable of the owner's
  setPrototypeOf(real, null); // no setter of code is ever called with it
  const handler = handlerFor(real);
  setPrototypeOf(handler, null); // what code adds to Object.prototype is no trap
  replace('env', new Proxy(copy, handler));
  if (typeof process.loadEnvFile === 'function') replace('loadEnvFile', loadEnvFile);
}

/** Returns a handler that code may get hold of, as of the copy: neither leads to the real environment. */
function handlerFor(real: Environment): ProxyHandler<Environment> {
  const write = (copy: Environment, name: string | symbol, value: unknown): boolean => {
    const [key, text] = [`${name as string}`, `${value as string}`]; // a symbol throws, as in an environment of the system's
    if (isPassedOn(key) && !(key === 'TZ' && isPath(text))) real[key] = text;
    defineProperty(copy, key, { value: text, enumerable: true, configurable: true, writable: true });
    return true;
  };
  return {
    set: (copy, name, value) => write(copy, name, value),
    defineProperty: (copy, name, { value }) => write(copy, name, value),
    deleteProperty: (copy, name) => {
      if (isPassedOn(name)) delete real[name as string];
      return delete copy[name as string];
    },
    preventExtensions: () => false,
  };
}

/**
 * Returns whether a time zone is a path that leaves the folder of time zones: the C library would open that file. Without
 * methods of text: code may have replaced them.
 */
function isPath(zone: string): boolean {
  const first = zone[0] === ':' ? zone[1] : zone[0];
  for (let i = 1; i < zone.length; i++) if (zone[i] === '.' && zone[i - 1] === '.') return true;
  return first === '/';
}

/** Does what Node's function does, which would write into the real environment. */
function loadEnvFile(path: string | URL | Buffer = '.env'): void {
  for (const [name, value] of entries(parseEnv(readFileSync(path, 'utf8')))) process.env[name] ??= value;
}

function replace(name: string, value: unknown): void {
  defineProperty(process, name, { value, enumerable: true, configurable: true, writable: true });
}
