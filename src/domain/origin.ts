// The component that a source was deployed from, when no code was sent. The first line of the deployed code names it, as
// with workflow files, with a hash of the deployed code, by which a change shows. (Rejected: columns. They would have to
// be migrated, exported and moved, though nothing is looked up by them.)

export interface Origin {
  /** `component_path`: a file of the server's folder; `component`: a built-in one; `file`: bundled by its caller. */
  readonly kind: 'component_path' | 'component' | 'file';
  readonly name: string;
  /** Of a file: whose it is. Null or absent: it was not said. */
  readonly project?: string | null;
}

const MARK =
  /^\/\/ (component_path|component|file) ("(?:[^"\\\n]|\\.)*")(?: of ("(?:[^"\\\n]|\\.)*"))?, sha256 [0-9a-f]{64}\n/;
const MARKS = new RegExp(`^(?:${MARK.source.slice(1)})+`);

/** Returns the code to store. `digest`: SHA-256 in hex; `source`: as its author wrote it. */
export function markedCode({ kind, name, project = null }: Origin, digest: string, source: string): string {
  const of = project === null ? '' : ` of ${JSON.stringify(project)}`;
  return `// ${kind} ${JSON.stringify(name)}${of}, sha256 ${digest}\n${source}`;
}

/** Returns null when the code itself was sent. */
export function originOf(code: string): Origin | null {
  const found = MARK.exec(code);
  if (found === null) return null;
  const [, kind, name, project] = found as unknown as [string, Origin['kind'], string, string?];
  return { kind, name: JSON.parse(name), project: project === undefined ? null : JSON.parse(project) };
}

/** Removes marks, also those of the author: a second mark would be read in place of the first. */
export function plainCode(code: string): string {
  return code.replace(MARKS, '');
}
