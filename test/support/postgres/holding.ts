// A lock that a test holds, so that what the nodes do meets at it.

import type postgres from 'postgres';

/** Holds the line of a listener until it is released. */
export function holding(
  sql: postgres.Sql,
  listenerId: string,
): { locked: Promise<void>; release: () => Promise<void> } {
  const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const done = sql.begin(async (tx) => {
    await tx`SELECT 1 FROM listener_queues WHERE listener_id = ${listenerId} FOR UPDATE`;
    isLocked();
    await released;
  });
  return {
    locked,
    release: async () => {
      release();
      await done;
    },
  };
}

/** How many transactions wait for a lock. */
export async function lockWaits(sql: postgres.Sql): Promise<number> {
  const [row] =
    await sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return row?.n;
}
