// The files of the dashboard as `npm run build` makes them: `dist/dashboard/`, the same from the sources and in the package.
// They are read at the first request for them, since a start does not need them, and stay in memory with their compressed forms.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../dist/dashboard/', import.meta.url));

/** A name that the build gives: no other file is read. */
const ASSET = /^[\w-]+(\.[\w-]+)*\.(js|css|svg|woff2)$/;

/** Its name in the manifest of the build. */
const DOCS_ENTRY = 'src/docs/main.ts';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  html: 'text/html; charset=utf-8',
};

export interface BuiltFile {
  readonly type: string;
  /** Strong: it is made of the content. */
  readonly etag: string;
  readonly plain: Buffer;
  /** Null: the file is too small to be compressed. */
  readonly br: Buffer | null;
  readonly gzip: Buffer | null;
}

export interface Dashboard {
  index(): Promise<BuiltFile | null>;
  /** Reads a file of the build; null: it has no such file. */
  asset(name: string): Promise<BuiltFile | null>;
  /** Returns the address of the script of the documentation's pages; null: there is none. */
  docsScript(): Promise<string | null>;
}

/** Returns null when the dashboard has not been built. */
export function openDashboard(folder = FOLDER): Dashboard | null {
  if (!existsSync(`${folder}index.html`)) return null;
  const files = new Map<string, Promise<BuiltFile | null>>();
  const open = (path: string): Promise<BuiltFile | null> => {
    const known = files.get(path) ?? read(folder + path);
    files.set(path, known);
    // What is not there, or could not be read, is looked for again: names are endless, and memory is not.
    known.then(
      (file) => file ?? files.delete(path),
      () => files.delete(path),
    );
    return known;
  };
  let docsScript: Promise<string | null> | undefined;
  return {
    index: () => open('index.html'),
    docsScript: () => {
      docsScript ??= docsScriptOf(folder);
      return docsScript;
    },
    asset: async (name) => (ASSET.test(name) ? open(`assets/${name}`) : null),
  };
}

async function read(path: string): Promise<BuiltFile | null> {
  const orNull = (error: NodeJS.ErrnoException): null => {
    if (error.code === 'ENOENT') return null;
    throw error;
  };
  const plain = await readFile(path).catch(orNull);
  if (plain === null) return null;
  const [br, gzip] = await Promise.all([readFile(`${path}.br`).catch(orNull), readFile(`${path}.gz`).catch(orNull)]);
  const type = TYPES[path.split('.').at(-1) as string] ?? 'application/octet-stream';
  return { type, etag: etagOf(plain), plain, br, gzip };
}

export function etagOf(content: Buffer): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`;
}

/** Returns the address of the documentation's script; null: a build without one. */
async function docsScriptOf(folder: string): Promise<string | null> {
  const text = await readFile(`${folder}manifest.json`, 'utf8').catch(() => '{}');
  const chunks = JSON.parse(text) as Readonly<Record<string, { readonly file: string } | undefined>>;
  const file = chunks[DOCS_ENTRY]?.file;
  return file === undefined ? null : `/${file}`;
}
