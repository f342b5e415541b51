// Exports of other products, which are told by name where an import finds nothing of its own.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_FILES = 200;

/** Returns what a file or folder is instead of a project that can be imported; null: it is not known. */
export async function foreignExport(path: string): Promise<string | null> {
  const below = await readdir(path, { recursive: true }).catch(() => null);
  const files = below === null ? [path] : below.map((name) => join(path, name)).slice(0, MAX_FILES);
  for (const file of files) {
    if (/\.flow[\\/]flow\.(ya?ml|json)$|\.flow\.json$/.test(file)) return `${file} is a flow of Windmill`;
    if (file.endsWith('.json') && isOfN8n(await readFile(file, 'utf8').catch(() => ''))) {
      return `${file} is an export of n8n`;
    }
  }
  return null;
}

/** Returns whether a text is a workflow of n8n, or several in a list. */
export function isOfN8n(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    const { nodes, connections } = (Array.isArray(parsed) ? parsed[0] : parsed) as Record<string, unknown>;
    return Array.isArray(nodes) && typeof connections === 'object';
  } catch {
    return false;
  }
}
