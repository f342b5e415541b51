// Names of packages in `import`, which may pin a version: `pkg@1.2.3`, `@scope/pkg@^2/sub`.

import isWithin from 'semver/functions/satisfies.js';
import valid from 'semver/functions/valid.js';
import validRange from 'semver/ranges/valid.js';

export interface Specifier {
  readonly name: string;
  /** Null: any version. */
  readonly pin: string | null;
  /** With its slash, or empty. */
  readonly sub: string;
}

/** npm takes no other names. What looks like an option of a command line is none. */
const INSTALLABLE = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/i;
/** Ranges and tags; an address is neither. */
const VERSION = /^[\w.^~<>=*|+ -]+$/;
const OPTIONS = { loose: true, includePrerelease: true };
const PARTS = /^((?:@[^/@\s]+\/)?[^/@\s.#:][^/@\s:]*)(?:@([^/]*))?(\/.*)?$/;

/** Parses a specifier; null when it names no package. */
export function readSpecifier(text: string): Specifier | null {
  const found = PARTS.exec(text);
  if (found === null) return null;
  const [, name = '', pin, sub = ''] = found;
  return { name, pin: pin ?? null, sub };
}

/**
 * Returns whether a version satisfies a pin. Ranges are npm's, except that an installed prerelease version counts. A
 * pin that is no range is a tag (`latest`) and is always satisfied, as is every pin by a version that npm cannot parse.
 */
export function satisfies(version: string, pin: string): boolean {
  const range = validRange(pin, OPTIONS);
  return range === null || valid(version, OPTIONS) === null || isWithin(version, range, OPTIONS);
}

/** Returns what `npm install` takes for a package, with its pin; null when npm has no package of that name. */
export function installable({ name, pin }: Specifier): string | null {
  if (!INSTALLABLE.test(name)) return null;
  return pin !== null && VERSION.test(pin) ? `${name}@${pin}` : name;
}
