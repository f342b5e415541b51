// Whether what is sealed in a store can be opened with the operator's present key: for `errand store check`, on both
// backends.

import type { Ask, Finding } from './checks.ts';
import { createSeal, type Seal } from './seal.ts';
import { openSealKey, SEAL_KEY, type SecretKey, SecretKeyRefused } from './seal-key.ts';
import { ROWS_PER_STEP, SEALED_COLUMNS } from './sealed-columns.ts';

export async function findSealed(ask: Ask, keys: readonly SecretKey[]): Promise<Finding[]> {
  const [row] = await ask(`SELECT value FROM meta WHERE name = '${SEAL_KEY}'`);
  try {
    const { key } = openSealKey((row?.value as string | undefined) ?? null, keys);
    return await findUnreadable(ask, key);
  } catch (error) {
    if (!(error instanceof SecretKeyRefused)) throw error;
    return [{ check: 'secret_key', detail: error.message, count: await countSealed(ask) }];
  }
}

async function findUnreadable(ask: Ask, key: Uint8Array): Promise<Finding[]> {
  const seal = createSeal(key);
  const findings: Finding[] = [];
  for (const { table, column, place } of SEALED_COLUMNS) {
    const unreadable: string[] = [];
    for (let after = ''; ; ) {
      const rows = await ask(
        `SELECT id, ${column} AS text FROM ${table} WHERE id > '${after}' AND ${column} LIKE 'sealed%'
          ORDER BY id LIMIT ${ROWS_PER_STEP}`,
      );
      for (const { id, text } of rows as { id: string; text: string }[]) {
        if (!opens(seal, text, place(id))) unreadable.push(id);
      }
      if (rows.length < ROWS_PER_STEP) break;
      after = String(rows.at(-1)?.id);
    }
    if (unreadable.length === 0) continue;
    const detail = `${column} in ${table} that are not what was sealed there, as of ${unreadable[0]}`;
    findings.push({ check: 'secret_unreadable', detail, count: unreadable.length });
  }
  return findings;
}

function opens(seal: Seal, text: string, place: string): boolean {
  try {
    seal.open(text, place);
    return true;
  } catch {
    return false;
  }
}

async function countSealed(ask: Ask): Promise<number> {
  const parts = SEALED_COLUMNS.map(
    ({ table, column }) => `(SELECT count(*) FROM ${table} WHERE ${column} LIKE 'sealed%')`,
  );
  return (await ask(`SELECT CAST(${parts.join(' + ')} AS bigint) AS n`))[0]?.n as number;
}
