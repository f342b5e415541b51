// The schema of an SQLite file as lines of text: what SQLite says of each table, column and index, and not how the
// statements that made them were written.

import type { DatabaseSync } from 'node:sqlite';

/** Tables by name, columns and indexes below theirs. */
export function catalogueOf(db: DatabaseSync): string {
  const lines: string[] = [];
  const all = (sql: string, ...values: string[]) => db.prepare(sql).all(...values) as Record<string, string | number>[];
  const tables = all("SELECT * FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%' ORDER BY name");
  for (const { name, type, wr, strict } of tables) {
    lines.push(`${type} ${name}${wr ? ' WITHOUT ROWID' : ''}${strict ? ' STRICT' : ''}`);
    for (const column of all('SELECT * FROM pragma_table_xinfo(?)', String(name))) {
      const { notnull, dflt_value, pk, hidden } = column;
      const rest = `${notnull ? ' NOT NULL' : ''}${dflt_value === null ? '' : ` DEFAULT ${dflt_value}`}`;
      lines.push(`  column ${column.name} ${column.type}${rest}${pk ? ` key ${pk}` : ''}${hidden ? ' hidden' : ''}`);
    }
    for (const index of all('SELECT * FROM pragma_index_list(?) ORDER BY name', String(name))) {
      const columns = all('SELECT * FROM pragma_index_xinfo(?) WHERE key', String(index.name));
      const listed = columns.map((c) => `${c.name ?? 'expression'}${c.desc ? ' DESC' : ''} ${c.coll}`).join(', ');
      const where = whereOf(all('SELECT sql FROM sqlite_schema WHERE name = ?', String(index.name))[0]?.sql);
      lines.push(`  ${index.unique ? 'unique ' : ''}index ${index.name} (${listed})${where} from ${index.origin}`);
    }
  }
  for (const { type, sql } of all(
    "SELECT type, sql FROM sqlite_schema WHERE type IN ('view', 'trigger') ORDER BY name",
  )) {
    lines.push(`${type}: ${onOneLine(String(sql))}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Of a partial index; those that SQLite makes itself have no statement. */
function whereOf(sql: string | number | null | undefined): string {
  return / WHERE .*$/i.exec(onOneLine(String(sql ?? '')))?.[0] ?? '';
}

function onOneLine(sql: string): string {
  return sql
    .replace(/--[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
