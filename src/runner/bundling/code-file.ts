// A whole workflow file that came as text: the entry imports it as a module of its own kind, which has no folder. So what the
// file imports is resolved as a step's imports are (importable.ts), and no file of this machine is named by it.

import type { Plugin } from 'esbuild';

/** How the entry imports it. */
export const CODE_FILE = 'errand:file';
const KIND = 'errand-file';

interface CodeFile {
  /** Its path, as its author has it. */
  readonly file: string;
  readonly code: string;
  /** Where the packages that it may import are; undefined: there are none. */
  readonly base: string | undefined;
}

export function codeFile({ file, code, base }: CodeFile): Plugin {
  return {
    name: 'errand-code-file',
    setup(build) {
      build.onLoad({ filter: /.*/, namespace: KIND }, () => {
        const loader = /\.[jt]sx$/i.test(file) ? 'tsx' : 'ts';
        return { contents: code, loader, ...(base === undefined ? {} : { resolveDir: base }) };
      });
    },
  };
}

/** Returns where the entry's import of a file leads. */
export function codeFileAt(file: string): { path: string; namespace: string } {
  return { path: file, namespace: KIND };
}

/** Returns the path without the kind, which the bundler puts before it. */
export function plainFile(file: string): string {
  return file.startsWith(`${KIND}:`) ? file.slice(KIND.length + 1) : file;
}

export function plainSources(sourceMap: string): string {
  if (!sourceMap.includes(`"${KIND}:`)) return sourceMap;
  const map = JSON.parse(sourceMap) as { sources: string[] };
  return JSON.stringify({ ...map, sources: map.sources.map(plainFile) });
}
