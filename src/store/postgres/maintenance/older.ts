// Processes of an older version, which share the database while they are replaced one by one. Once the schema is newer
// than they know, none of them starts any more.

import { NOW_SQL } from '../connection/clock.ts';

/** One that did not say for so long that it lives was killed. */
const SURELY_GONE_MS = 60_000;

/** Finds a row while one lives that does not know of what this column of `nodes` stands for. */
export const findOlder = (knows: 'seals' | 'shares_code'): string =>
  `SELECT 1 AS one FROM nodes
    WHERE NOT ${knows} AND gone_at_ms IS NULL AND beat_at_ms > ${NOW_SQL} - ${SURELY_GONE_MS} LIMIT 1`;
