// The statements. Names are quoted, and values are parameters; a query of the user's is a subquery, so it is one statement.

/** `key`: names of columns that tell rows of one value apart; none: all columns do. */
export function statementsOf({ schema, table, query, column, key }) {
  const from = `${relationOf({ schema, table, query })} AS q`;
  const value = `q.${quoted(column)}`;
  const columns = key.map((name) => `q.${quoted(name)}`).join(', ');
  const keyText = `(${key.length === 0 ? 'md5(q::text)' : `jsonb_build_array(${columns})::text`} COLLATE "C")`;

  /** Rows with the highest values, highest first. */
  function newest(limit) {
    const text = `SELECT ${value}::text AS value, ${keyText} AS key FROM ${from} WHERE ${value} IS NOT NULL
      ORDER BY ${value} DESC, ${keyText} DESC LIMIT ${limit}`;
    return { text, parameters: [] };
  }

  /** From a row on, with it or without, as `after` of window.mjs takes them. `raised`, `top`: values, or null. */
  function keys({ from: start, isWith, raised, top, limit }) {
    const parameters = [];
    const parameter = (given) => `$${parameters.push(given)}`;
    const notBelow = (given) => (given === null ? 'true' : `${value} >= ${parameter(given)}`);
    const isKept = notBelow(raised);
    const isTop = notBelow(top);
    const where = [`${value} IS NOT NULL`];
    if (start !== null) {
      const [startValue, startKey] = start.map(parameter);
      // In two parts, since the first is what an index can answer.
      where.push(`${value} >= ${startValue}`);
      where.push(`(${value} > ${startValue} OR ${keyText} ${isWith ? '>=' : '>'} ${startKey})`);
    }
    const text = `SELECT ${value}::text AS value, ${keyText} AS key, ${isKept} AS "isKept", ${isTop} AS "isTop"
      FROM ${from} WHERE ${where.join(' AND ')} ORDER BY ${value}, ${keyText} LIMIT ${limit}`;
    return { text, parameters };
  }

  /** Whole rows. `of`: in their order, not none. */
  function rows(of) {
    const pairs = `SELECT one->>0, one->>1 FROM jsonb_array_elements($3::text::jsonb) AS one`;
    const text = `SELECT DISTINCT ON (${value}, ${keyText}) q.* FROM ${from} WHERE ${value} BETWEEN $1 AND $2
      AND (${value}::text, ${keyText}) IN (${pairs}) ORDER BY ${value}, ${keyText}`;
    const all = of.map(({ value: one, key: other }) => [one, other]);
    return { text, parameters: [of[0].value, of.at(-1).value, JSON.stringify(all)], withLists: true };
  }

  return { newest, keys, rows, hasKey: key.length > 0 };
}

/** Names of the columns of a table's primary key. */
export function primaryKeyOf({ schema, table }) {
  const text = `SELECT a.attname AS name FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = $1::regclass AND i.indisprimary ORDER BY a.attnum`;
  return { text, parameters: [relationOf({ schema, table })] };
}

function relationOf({ schema, table, query }) {
  if (table === undefined) return `(\n${query.replace(/[;\s]+$/, '')}\n)`;
  return schema === undefined ? quoted(table) : `${quoted(schema)}.${quoted(table)}`;
}

export function quoted(name) {
  if (name === '' || name.includes('\0')) throw new Error('a name in Postgres is not empty, and has no zero bytes');
  return `"${name.replaceAll('"', '""')}"`;
}
