// The words of tables that both databases have. A line that begins with `@sqlite` or `@postgres` is of that database alone.
// What comes out of a released text is pinned by a hash, so a word is never changed either.

import type { DatabaseKind } from '../config/sql.ts';

/** Options of tables whose rows change with every claim: most updates stay on their page (HOT), and what is dead is soon swept. */
export const HOT = `WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0)`;

const WORDS: Readonly<Record<DatabaseKind, readonly (readonly [RegExp, string])[]>> = {
  sqlite: [
    [/\bID\b/g, 'TEXT'],
    [/\b(BIGINT|INT|BOOLEAN)\b/g, 'INTEGER'],
  ],
  postgres: [
    // Compared byte by byte, since lists are walked by ids.
    [/\bID\b/g, 'text COLLATE "C"'],
    [/\bTEXT\b/g, 'text'],
    [/\bBIGINT\b/g, 'bigint'],
    [/\bINT\b/g, 'integer'],
    [/\bBOOLEAN\b/g, 'boolean'],
    [/\bBLOB\b/g, 'bytea'],
    [/ STRICT(, WITHOUT ROWID)?;/g, ';'],
    [/\bHOT\b/g, HOT],
  ],
};

export function schemaFor(kind: DatabaseKind, text: string): string {
  const lines = text.split('\n').flatMap((line) => {
    const [, only = kind, own = line] = /^@(sqlite|postgres) (.*)$/.exec(line) ?? [];
    return only === kind ? [own] : [];
  });
  return WORDS[kind].reduce((made, [word, meaning]) => made.replace(word, meaning), lines.join('\n'));
}
