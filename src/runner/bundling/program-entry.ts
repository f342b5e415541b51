// The entry of a workflow file's bundle: it makes the program of the file's default export.

import type { Message } from 'esbuild';
import { NAMESPACE } from '../provided.ts';

export const ENTRY = `${NAMESPACE}:entry`;

/** Returns the code of the entry. `file`: how it imports the file. */
export function entryOf(file: string): string {
  return [
    `import * as file from ${JSON.stringify(file)};`,
    `import { programOf } from 'errand:program';`,
    'export const { steps, first: default$ } = programOf(file.default);',
    'export { default$ as default };',
  ].join('\n');
}

/** Returns whether the bundler says that the file has no default export. */
export function isWithoutDefault({ id, location }: Message): boolean {
  return id === 'import-is-undefined' && location?.file.endsWith(ENTRY) === true;
}
