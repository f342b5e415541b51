// Which component a source was deployed from, when it was not its code that was sent. The first line of the deployed code
// says so, as with workflow files, with a hash of all that was deployed, by which a change shows. (Rejected: columns for
// it. They would be migrated, exported and moved for what nothing is looked up by.)

export interface Origin {
  /** `component_path`: a file of the server's folder; `component`: one of ours; `file`: bundled by its caller. */
  readonly kind: 'component_path' | 'component' | 'file';
  readonly name: string;
}

const MARK = /^\/\/ (component_path|component|file) (".*"), sha256 [0-9a-f]{64}\n/;
const MARKS = new RegExp(`^(?:${MARK.source.slice(1)})+`);

/** The code that is kept. `digest`: SHA-256 in hex; `source`: as its author wrote it. */
export function markedCode({ kind, name }: Origin, digest: string, source: string): string {
  return `// ${kind} ${JSON.stringify(name)}, sha256 ${digest}\n${source}`;
}

/** Null when the code itself was sent. */
export function originOf(code: string): Origin | null {
  const found = MARK.exec(code);
  if (found === null) return null;
  return { kind: found[1] as Origin['kind'], name: JSON.parse(found[2] as string) as string };
}

/** Without marks, also those of the author: what is behind the first one would be taken for a mark then. */
export function plainCode(code: string): string {
  return code.replace(MARKS, '');
}
