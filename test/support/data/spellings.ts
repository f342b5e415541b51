// Ways to write a path that some program or other takes for the same path.

const hex = (character: string): string => (character.codePointAt(0) as number).toString(16).padStart(2, '0');
const upper = (character: string): string => `%${hex(character).toUpperCase()}`;
const lower = (character: string): string => `%${hex(character)}`;

const mapped = (path: string, of: (character: string) => string): string => [...path].map(of).join('');
const butSlashes = (of: (character: string) => string) => (character: string) =>
  character === '/' ? '/' : of(character);

/** Each character escaped by itself, in each way that differs. */
export function escapesOf(path: string): string[] {
  const escaped = [...path].flatMap((character, at) => {
    const [before, after] = [path.slice(0, at), path.slice(at + 1)];
    const ways = new Set([upper(character), lower(character)]);
    return [...ways].map((way) => `${before}${way}${after}`);
  });
  return escaped.filter((one) => one.startsWith('/'));
}

/** All else: escaped as a whole, twice or too long, with other slashes and dots, in other forms and cases. */
export function otherSpellings(path: string): string[] {
  const [, first = '', ...rest] = path.split('/');
  const tail = rest.map((part) => `/${part}`).join('');
  const slashes = [...path].flatMap((character, at) => (character === '/' ? [at] : []));
  const inserted = ['//', '/./', '/%2e/', '/x/../', '/x/%2e%2e/', '/x/..%2f', '/x/%2e%2e%2F', '/.//', '/;/', '/%00/'];
  const replaced = [
    '\\',
    '%5c',
    '%5C',
    '%2f',
    '%2F',
    '%252f',
    '%c0%af',
    '\u2215',
    '%ef%bc%8f',
    ';/',
    ';x=1/',
    '%3b/',
    '%20/',
    '/%20',
  ];
  const endings = [
    '/',
    '//',
    '/.',
    '/..',
    '/%2e',
    '%2f',
    '%5c',
    '?',
    '?a=/v1/docs',
    '#',
    '#/docs',
    ';',
    ';a=b',
    '%3b',
    '%3f',
    '%23',
  ];
  const moreEndings = [
    '%20',
    '%09',
    '%00',
    '%0d%0a',
    '.json',
    '/.json',
    '.',
    '%2e',
    '?access=public',
    '?is404=1',
    '%',
    '%zz',
    '%u0076',
  ];
  return [
    mapped(path, butSlashes(upper)),
    mapped(path, butSlashes(lower)),
    `/${mapped(path.slice(1), upper)}`,
    mapped(
      path,
      butSlashes((c) => upper(c).replace('%', '%25')),
    ),
    mapped(
      path,
      butSlashes((c) => lower(c).replace('%', '%2525')),
    ),
    mapped(
      path,
      butSlashes((c) => `%c1%${(c.charCodeAt(0) | 0x80).toString(16)}`),
    ),
    mapped(
      path,
      butSlashes((c) => `%u00${hex(c)}`),
    ),
    mapped(
      path,
      butSlashes((c) => `&#x${hex(c)};`),
    ),
    `/%25${hex(first.charAt(0))}${first.slice(1)}${tail}`,
    ...slashes.flatMap((at) => inserted.map((way) => path.slice(0, at) + way + path.slice(at + 1))),
    ...slashes.slice(1).flatMap((at) => replaced.map((way) => path.slice(0, at) + way + path.slice(at + 1))),
    ...[...endings, ...moreEndings].map((ending) => path + ending),
    ...['docs', 'healthz', 'e', 'e/x', 'r', 'v1/openapi.json', 'metrics', 'sse'].flatMap((open) => {
      const up = open
        .split('/')
        .map(() => '..')
        .join('/');
      return [
        `/${open}/${up}${path}`,
        `/${open}/${up.replaceAll('.', '%2e')}${path}`,
        `/${open};${path}`,
        `/${open}%2f${up}${path}`,
        `/${open}${path}`,
      ];
    }),
    ...[
      'http://x',
      'HTTP://x:1',
      'https://x',
      'ftp://x',
      'http://u:p@x',
      'http:',
      'http://',
      'http:///',
      '//x',
      '///',
      '/http://x',
      'x',
      '*',
      '.',
      '..',
    ].map((form) => form + path),
    `http://x/%76%31${path.slice(first.length + 1)}`,
    `/${first.toUpperCase()}${tail}`,
    path.toUpperCase(),
    `/${upper(first.charAt(0).toUpperCase())}${first.slice(1)}${tail}`,
    `/V1/..${path}`,
    `/%65${path}`,
    `/%65/..${path}`,
    path.slice(1),
  ];
}

/** With bytes that no address may have; a server closes the connection after them. */
export function brokenSpellings(path: string): string[] {
  const at = path.indexOf('/', 1);
  return ['\t', '\0', ' ', '\r', '\u00e9', '\x7f'].flatMap((byte) => [
    path + byte,
    path.slice(0, at) + byte + path.slice(at),
  ]);
}
