// The schema of a Postgres database as lines of text: what its catalogue says of each table, column, index and view, and
// not how the statements that made them were written. The same on every version of Postgres that is supported.

import { queryOn } from './databases.ts';

/** Kind, name, and what belongs to it. Each has `line` as the only column that is shown. */
const PARTS: readonly string[] = [
  `SELECT c.relname, 0 AS part, 0 AS place, format('%s %s%s%s', CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view'
      WHEN 'S' THEN 'sequence' ELSE c.relkind::text END, c.relname, ' WITH (' || array_to_string(c.reloptions, ', ') || ')',
      ' TOAST (' || array_to_string(t.reloptions, ', ') || ')') AS line
    FROM pg_class AS c LEFT JOIN pg_class AS t ON t.oid = c.reltoastrelid WHERE c.relkind <> 'i' AND c.relnamespace = 'public'::regnamespace`,
  `SELECT c.relname, 1, a.attnum, format('  column %s %s%s%s%s%s storage %s', a.attname, format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attcollation NOT IN (0, t.typcollation) THEN ' COLLATE ' || l.collname END,
      CASE WHEN a.attnotnull THEN ' NOT NULL' END, ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid),
      CASE WHEN a.attidentity <> '' THEN ' identity ' || a.attidentity::text END, a.attstorage)
    FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_type AS t ON t.oid = a.atttypid
    LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
    WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v') AND c.relnamespace = 'public'::regnamespace`,
  // A column that takes no null is a constraint, too, since Postgres 18.
  `SELECT c.relname, 2, 0, format('  constraint %s %s', n.conname, pg_get_constraintdef(n.oid))
    FROM pg_constraint AS n JOIN pg_class AS c ON c.oid = n.conrelid
    WHERE n.contype <> 'n' AND c.relnamespace = 'public'::regnamespace`,
  `SELECT c.relname, 3, 0, format('  index %s%s', pg_get_indexdef(x.indexrelid), ' WITH (' || array_to_string(i.reloptions, ', ') || ')')
    FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS c ON c.oid = x.indrelid
    WHERE c.relnamespace = 'public'::regnamespace`,
  // Versions before 16 name the table of every column.
  `SELECT c.relname, 4, 0, '  as ' || regexp_replace(regexp_replace(pg_get_viewdef(c.oid), '\\s+', ' ', 'g'),
      '\\m(open_)?(runs|deliveries)\\.', '', 'g')
    FROM pg_class AS c WHERE c.relkind = 'v' AND c.relnamespace = 'public'::regnamespace`,
  `SELECT c.relname, 5, 0, '  trigger ' || pg_get_triggerdef(t.oid) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal`,
  `SELECT p.proname, 6, 0, 'function ' || pg_get_functiondef(p.oid) FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace`,
];

/** Tables and views by name, what belongs to each below it. */
export async function catalogueOf(url: string): Promise<string> {
  const all = PARTS.map((part) => `(${part})`).join(' UNION ALL ');
  const sql = `SELECT line FROM (${all}) AS l ORDER BY relname COLLATE "C", part, place, line COLLATE "C"`;
  return `${(await queryOn(url, sql)).map(({ line }) => line).join('\n')}\n`;
}
