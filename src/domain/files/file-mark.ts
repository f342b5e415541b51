// The line before the code of a workflow file's first step, by which its file is known: see engine/files/identity.ts.

export interface FileMark {
  /** The file's path in its folder, with slashes; begins with one when a caller sent the file. */
  readonly key: string;
  readonly state: 'deployed' | 'removed';
  /** Whose file it is, of those that callers send: a deployment prunes only its own. Null: it was not said. */
  readonly project: string | null;
  /** Hash of everything that made the deployment. */
  readonly digest: string;
}

const MARK =
  /^\/\/ ("(?:[^"\\\n]|\\.)*") (?:of ("(?:[^"\\\n]|\\.)*") )?(deployed|removed): a workflow file, sha256 ([0-9a-f]{64})\n/;
/** No path in the server's folder begins with it. */
const SENT = '/';

/** Returns the code of the first step, as shown. */
export function withMark({ key, state, project, digest }: FileMark, source: string): string {
  const of = project === null ? '' : ` of ${JSON.stringify(project)}`;
  return `// ${JSON.stringify(key)}${of} ${state}: a workflow file, sha256 ${digest}\n${source}`;
}

/** Returns null for code that was not made from a file. */
export function markIn(code: string): FileMark | null {
  const found = MARK.exec(code);
  if (found === null) return null;
  const [, key, project, state, digest] = found as unknown as [string, string, string?, FileMark['state']?, string?];
  if (state === undefined || digest === undefined) return null;
  return { key: JSON.parse(key), project: project === undefined ? null : JSON.parse(project), state, digest };
}

/** Returns the file as its author wrote it. */
export function withoutMark(code: string): string {
  return code.replace(MARK, '');
}

/** Returns the key of a file that a caller sends. */
export function sentKey(path: string): string {
  return SENT + path;
}

/** Returns whether a caller sent the file, and it is not one of the server's folder. */
export function isSent(key: string): boolean {
  return key.startsWith(SENT);
}

/** Returns the path of a file, as its author has it. */
export function pathOfKey(key: string): string {
  return isSent(key) ? key.slice(SENT.length) : key;
}
