// SQLite's result codes. https://sqlite.org/rescode.html

/** The primary one; null: it is no error of SQLite's. */
export function primaryCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' ? code & 0xff : null;
}
