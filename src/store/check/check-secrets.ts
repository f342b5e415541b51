// Checks that the operator's key opens what is sealed in a store: for `errand store check`, on both backends.

import { HTTP } from '../../domain/emission.ts';
import { recordId } from '../../domain/ids.ts';
import { bytes, number, text } from '../rows/cells.ts';
import { createSeal, type Seal } from '../seal/seal.ts';
import { openSealKey, SEAL_KEY, type SecretKey, SecretKeyRefused } from '../seal/seal-key.ts';
import { ROWS_PER_STEP, SEALED_COLUMNS } from '../seal/sealed-columns.ts';
import { openBody } from '../seal/sealed-requests.ts';
import { type BeginCheck, countIn, type Finding, type ReadRows } from './checks.ts';

/** Requests may be long. */
const REQUESTS_PER_STEP = 16;

export async function findSealed(read: ReadRows, keys: readonly SecretKey[], begin: BeginCheck): Promise<Finding[]> {
  begin('secrets');
  const [row] = await read(`SELECT value FROM meta WHERE name = '${SEAL_KEY}'`);
  try {
    const { key } = openSealKey(row ? text(row, 'value') : null, keys);
    const seal = createSeal(key);
    return [...(await findUnreadable(read, seal)), ...(await findUnreadableRequests(read, seal))];
  } catch (error) {
    if (!(error instanceof SecretKeyRefused)) throw error;
    return [{ check: 'secret_key', detail: error.message, count: await countSealed(read) }];
  }
}

async function findUnreadable(read: ReadRows, seal: Seal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { table, column, place } of SEALED_COLUMNS) {
    const unreadable: string[] = [];
    for (let after = ''; ; ) {
      const rows = await read(
        `SELECT id, ${column} AS sealed FROM ${table} WHERE id > '${after}' AND ${column} LIKE 'sealed%'
          ORDER BY id LIMIT ${ROWS_PER_STEP}`,
      );
      for (const row of rows) {
        const id = text(row, 'id');
        if (!opens(() => seal.open(text(row, 'sealed'), place(id)))) unreadable.push(id);
      }
      if (rows.length < ROWS_PER_STEP) break;
      after = String(rows.at(-1)?.id);
    }
    if (unreadable.length === 0) continue;
    const detail = `${column} in ${table} that cannot be opened, e.g. of ${unreadable[0]}`;
    findings.push({ check: 'secret_unreadable', detail, count: unreadable.length });
  }
  return findings;
}

async function findUnreadableRequests(read: ReadRows, seal: Seal): Promise<Finding[]> {
  const unreadable: number[] = [];
  for (let after = 0; ; ) {
    const rows = await read(
      `SELECT entry, body FROM emissions WHERE entry > ${after} AND name = '${HTTP}' ORDER BY entry LIMIT ${REQUESTS_PER_STEP}`,
    );
    for (const row of rows) {
      after = number(row, 'entry');
      if (!opens(() => openBody({ entry: number(row, 'entry'), name: HTTP, body: bytes(row, 'body') }, seal))) {
        unreadable.push(after);
      }
    }
    if (rows.length < REQUESTS_PER_STEP) break;
  }
  const [first] = unreadable;
  if (first === undefined) return [];
  const detail = `requests of steps that cannot be opened, e.g. ${recordId(first)}`;
  return [{ check: 'secret_unreadable', detail, count: unreadable.length }];
}

function opens(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch {
    return false;
  }
}

async function countSealed(read: ReadRows): Promise<number> {
  const parts = SEALED_COLUMNS.map(
    ({ table, column }) => `(SELECT count(*) FROM ${table} WHERE ${column} LIKE 'sealed%')`,
  );
  parts.push(`(SELECT count(*) FROM emissions WHERE name = '${HTTP}')`);
  return countIn(await read(`SELECT CAST(${parts.join(' + ')} AS bigint) AS n`));
}
