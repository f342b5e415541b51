// SQLite's result codes. https://sqlite.org/rescode.html

/** A page of the file is damaged. */
export const CORRUPT = 11;

/** Returns the primary result code; null: the error is not SQLite's. */
export function primaryCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' ? code & 0xff : null;
}
