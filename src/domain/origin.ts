// The component that a source was deployed from, when no code was sent. The first line of the deployed code names it, as
// with workflow files, with a hash of the deployed code, by which a change shows. (Rejected: columns. They would have to
// be migrated, exported and moved, though nothing is looked up by them.)

export interface Origin {
  /** `component_path`: a file of the server's folder; `component`: a built-in one; `file`: bundled by its caller. */
  readonly kind: 'component_path' | 'component' | 'file';
  readonly name: string;
}

const MARK = /^\/\/ (component_path|component|file) (".*"), sha256 [0-9a-f]{64}\n/;
const MARKS = new RegExp(`^(?:${MARK.source.slice(1)})+`);

/** Returns the code to store. `digest`: SHA-256 in hex; `source`: as its author wrote it. */
export function markedCode({ kind, name }: Origin, digest: string, source: string): string {
  return `// ${kind} ${JSON.stringify(name)}, sha256 ${digest}\n${source}`;
}

/** Returns null when the code itself was sent. */
export function originOf(code: string): Origin | null {
  const found = MARK.exec(code);
  if (found === null) return null;
  return { kind: found[1] as Origin['kind'], name: JSON.parse(found[2] as string) as string };
}

/** Removes marks, also those of the author: a second mark would be read in place of the first. */
export function plainCode(code: string): string {
  return code.replace(MARKS, '');
}
