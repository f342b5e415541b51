// Names of packages in `import`, which may pin a version: `pkg@1.2.3`, `@scope/pkg@^2/sub`.

export interface Specifier {
  readonly name: string;
  /** Null: any version. */
  readonly pin: string | null;
  /** With its slash, or empty. */
  readonly sub: string;
}

const PARTS = /^((?:@[^/@\s]+\/)?[^/@\s.#:][^/@\s:]*)(?:@([^/]*))?(\/.*)?$/;

/** Null when it names no package. */
export function readSpecifier(text: string): Specifier | null {
  const found = PARTS.exec(text);
  if (found === null) return null;
  const [, name = '', pin, sub = ''] = found;
  return { name, pin: pin ?? null, sub };
}

type Version = readonly [major: number, minor: number, patch: number, rest: string];

const VERSION = /^[v=\s]*(\d+)(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/;

/** As npm reads ranges, but that an early version which was installed counts as one. A pin that is no range is a tag (`latest`), and takes what is there. */
export function satisfies(version: string, pin: string): boolean {
  const have = readVersion(version);
  if (have === null) return true;
  const alternatives = pin.split('||').map((part) => boundsOf(part.trim()));
  if (alternatives.some((bounds) => bounds === null)) return true;
  return alternatives.some((bounds) => bounds?.every(({ from, below }) => isWithin(have, from, below)));
}

interface Bounds {
  /** Inclusive. */
  readonly from: Version;
  /** Exclusive; null: none. */
  readonly below: Version | null;
}

const ZERO: Version = [0, 0, 0, ''];
const RANGE = /(\^|~>?|[<>]=?|=)?\s*([^\s<>=^~]+)/g;

function boundsOf(range: string): Bounds[] | null {
  if (range === '' || /^[xX*]$/.test(range)) return [{ from: ZERO, below: null }];
  const [low, high, ...more] = range.split(/\s+-\s+/);
  if (high !== undefined && more.length === 0) {
    const [from, to] = [boundsOfOne('>=', low ?? ''), boundsOfOne('<=', high)];
    return from && to && [from, to];
  }
  const all = [...range.matchAll(RANGE)].map(([, operator = '', version = '']) => boundsOfOne(operator, version));
  return all.length === 0 || all.includes(null) ? null : (all as Bounds[]);
}

function boundsOfOne(operator: string, text: string): Bounds | null {
  const from = readVersion(text);
  if (from === null) return null;
  const [major, minor, patch] = from;
  const parts = text
    .replace(/[-+].*$/, '')
    .split('.')
    .filter((part) => !/^[xX*]$/.test(part)).length;
  const next: Version = parts <= 1 ? [major + 1, 0, 0, ''] : parts === 2 ? [major, minor + 1, 0, ''] : after(from);
  switch (operator) {
    case '^':
      return { from, below: major > 0 || parts <= 1 ? [major + 1, 0, 0, ''] : caret(minor, patch, parts) };
    case '~':
    case '~>':
      return { from, below: parts <= 1 ? next : [major, minor + 1, 0, ''] };
    case '>':
      return { from: next, below: null };
    case '>=':
      return { from, below: null };
    case '<':
      return { from: ZERO, below: from };
    case '<=':
      return { from: ZERO, below: next };
    default:
      return { from, below: next };
  }
}

/** Below 1.0 the first number that is not zero counts. */
function caret(minor: number, patch: number, parts: number): Version {
  return minor > 0 || parts === 2 ? [0, minor + 1, 0, ''] : [0, 0, patch + 1, ''];
}

/** The smallest version that is larger. */
function after([major, minor, patch, rest]: Version): Version {
  return rest === '' ? [major, minor, patch + 1, '0'] : [major, minor, patch, `${rest}.0`];
}

function readVersion(text: string): Version | null {
  const found = VERSION.exec(text);
  if (found === null) return null;
  const [major, minor, patch] = found.slice(1, 4).map((part) => (/^\d+$/.test(part ?? '') ? Number(part) : 0));
  return [major ?? 0, minor ?? 0, patch ?? 0, found[4] ?? ''];
}

function isWithin(version: Version, from: Version, below: Version | null): boolean {
  if (compare(version, from) < 0) return false;
  if (below === null) return true;
  // 2.0.0-beta is no 1.x.
  const isEarly =
    version[3] !== '' && below[3] === '' && compare([version[0], version[1], version[2], ''], below) === 0;
  return !isEarly && compare(version, below) < 0;
}

function compare(a: Version, b: Version): number {
  for (const at of [0, 1, 2] as const) if (a[at] !== b[at]) return a[at] - b[at];
  if (a[3] === b[3]) return 0;
  if (a[3] === '' || b[3] === '') return a[3] === '' ? 1 : -1;
  return a[3].localeCompare(b[3], 'en', { numeric: true });
}
