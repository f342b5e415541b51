// Exports of other products, which are told by name where an import finds nothing of its own.

import { opendir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_FILES = 200;

/** Returns what a file or folder is instead of a project that can be imported; null: it is not known. */
export async function foreignExport(path: string): Promise<string | null> {
  for (const file of await filesAt(path)) {
    if (/\.flow[\\/]flow\.(ya?ml|json)$|\.flow\.json$/.test(file)) return `${file} is a flow of Windmill`;
    if (file.endsWith('.json') && isOfN8n(await readFile(file, 'utf8').catch(() => ''))) {
      return `${file} is an export of n8n`;
    }
  }
  return null;
}

/** Returns the path itself, or some of what is below the folder, which may be a home with all there is in it. */
async function filesAt(path: string): Promise<readonly string[]> {
  const folder = await opendir(path, { recursive: true }).catch(() => null);
  if (folder === null) return [path];
  const files: string[] = [];
  try {
    for await (const entry of folder) {
      files.push(join(entry.parentPath, entry.name));
      if (files.length === MAX_FILES) break;
    }
  } catch {
    // What cannot be read is told by none.
  }
  return files;
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
