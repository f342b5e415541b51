// Repairs salvaged rows so that every check passes. Rows that belong to lost ones are deleted or detached, and counted. Only what
// follows from existing rows is added.

import { ERRORS, HTTP } from '../../../domain/emission.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { OPEN_DELIVERY } from '../../rows/delivery-rows.ts';
import { OPEN_RUN } from '../../rows/run-rows.ts';
import type { Connection } from '../database.ts';
import { NO_WAIT } from '../partial-index.ts';
import { repairLedger, type SalvageRepair } from './ledger.ts';

interface Rule {
  /** Null: the repair loses nothing, and is not reported. */
  readonly what: string | null;
  /** One statement; the rows that it changes are counted. */
  readonly sql: string;
}

const NO_EVENT = (table: string): string => `NOT EXISTS (SELECT 1 FROM emissions AS e WHERE e.entry = ${table}.entry)`;
const PARTS = ['code', 'bundle', 'sourceMap'];

/** The entry of a lost error: it looks as if retention had deleted the error. */
const GONE = 1;

const CODE: readonly Rule[] = [
  // These rows follow from the steps of deployments.
  { what: null, sql: 'DELETE FROM deployment_codes' },
  ...PARTS.map((part) => ({
    what: null,
    sql: `INSERT OR IGNORE INTO deployment_codes (deployment_id, owner_id, hash)
      SELECT d.id, d.owner_id, json_extract(s.value, '$.${part}.sha256') FROM deployments AS d, json_each(d.steps) AS s
        WHERE json_valid(d.steps) AND json_extract(s.value, '$.${part}.sha256') IS NOT NULL`,
  })),
  {
    what: 'deployments without their code, dropped',
    sql: `DELETE FROM deployments WHERE NOT json_valid(steps) OR id IN (SELECT u.deployment_id FROM deployment_codes AS u
      WHERE NOT EXISTS (SELECT 1 FROM codes AS c WHERE c.owner_id = u.owner_id AND c.hash = u.hash))`,
  },
  {
    what: null,
    sql: 'DELETE FROM deployment_codes WHERE deployment_id NOT IN (SELECT id FROM deployments)',
  },
  {
    what: 'code of no deployment, dropped',
    sql: `DELETE FROM codes WHERE NOT EXISTS (SELECT 1 FROM deployment_codes AS u
      WHERE u.owner_id = codes.owner_id AND u.hash = codes.hash)`,
  },
];

const HAS_DEPLOYMENT =
  'EXISTS (SELECT 1 FROM deployments AS d WHERE d.id = deployment_id AND d.runnable_id = runnables.id)';

const CONFIGURATION: readonly Rule[] = [
  {
    what: 'owners that are only known by their records, created again',
    sql: `INSERT OR IGNORE INTO owners (id, name, digest_window_ms, created_at_ms, updated_at_ms)
      SELECT owner_id, 'Salvaged', ${LIMITS.digestWindowMs}, min(created_at_ms), max(created_at_ms)
        FROM (SELECT owner_id, created_at_ms FROM runnables UNION ALL SELECT owner_id, created_at_ms FROM webhooks)
        WHERE owner_id NOT IN (SELECT id FROM owners) GROUP BY owner_id`,
  },
  {
    what: 'workflows and sources set to an older deployment, since the active one is lost; deactivated',
    sql: `UPDATE runnables SET active = 0, deployment_id = (SELECT max(d.id) FROM deployments AS d
        WHERE d.runnable_id = runnables.id)
      WHERE NOT ${HAS_DEPLOYMENT} AND EXISTS (SELECT 1 FROM deployments AS d WHERE d.runnable_id = runnables.id)`,
  },
  {
    // Gives each source the code of its deployment.
    what: null,
    sql: `UPDATE runnables SET component_code = c.code, component_code_hash = c.hash FROM (SELECT d.id AS deployment,
          CASE json_type(d.steps, '$[0].code') WHEN 'text' THEN d.steps -> '$[0].code' END AS code,
          json_extract(d.steps, '$[0].code.sha256') AS hash FROM deployments AS d) AS c
      WHERE runnables.id GLOB 'dc_*' AND c.deployment = deployment_id
        AND (component_code IS NOT c.code OR component_code_hash IS NOT c.hash)`,
  },
  {
    // Addresses and history stay, and the workflow can be deployed again.
    what: 'workflows whose code is lost; deactivated, and without steps',
    sql: `INSERT OR IGNORE INTO deployments (id, owner_id, runnable_id, created_at_ms, steps)
      SELECT deployment_id, owner_id, id, updated_at_ms, '[]' FROM runnables WHERE id GLOB 'p_*' AND NOT ${HAS_DEPLOYMENT}`,
  },
  {
    what: null,
    sql: `UPDATE runnables SET active = 0 WHERE id GLOB 'p_*' AND deployment_id IN
      (SELECT id FROM deployments WHERE steps = '[]')`,
  },
  { what: 'sources whose code is lost, dropped', sql: `DELETE FROM runnables WHERE NOT ${HAS_DEPLOYMENT}` },
  {
    what: 'triggers of workflows and sources that are lost',
    sql: 'DELETE FROM triggers WHERE runnable_id NOT IN (SELECT id FROM runnables)',
  },
  {
    what: 'subscriptions of triggers that are lost',
    sql: `DELETE FROM subscriptions WHERE (emitter_id GLOB 'hi_*' OR emitter_id GLOB 'ti_*')
      AND emitter_id NOT IN (SELECT id FROM triggers)`,
  },
  {
    what: 'subscriptions of listeners that are lost',
    sql: `DELETE FROM subscriptions WHERE listener_id NOT IN (SELECT id FROM runnables)
      AND listener_id NOT IN (SELECT id FROM webhooks)`,
  },
  {
    what: 'subscriptions that stand for a trigger, made again',
    // Their places are lost: they come behind the others.
    sql: `INSERT OR IGNORE INTO subscriptions (id, owner_id, emitter_id, listener_id, event_name, via, active, created_at_ms,
        position)
      SELECT 'sub_' || substr(t.id, 4), t.owner_id, t.id, t.runnable_id, '', 'trigger', 1, t.created_at_ms,
        (SELECT coalesce(max(position), -1) + 1 FROM subscriptions WHERE owner_id = t.owner_id AND listener_id = t.runnable_id)
        FROM triggers AS t WHERE NOT EXISTS (SELECT 1 FROM subscriptions AS s WHERE s.emitter_id = t.id AND s.via = 'trigger')`,
  },
  {
    what: 'global error workflows that are lost',
    sql: `UPDATE owners SET global_error_workflow_id = NULL WHERE global_error_workflow_id IS NOT NULL
      AND global_error_workflow_id NOT IN (SELECT id FROM runnables)`,
  },
  {
    what: 'health of webhooks that are lost',
    sql: 'DELETE FROM webhook_health WHERE webhook_id NOT IN (SELECT id FROM webhooks)',
  },
  {
    what: 'throttles of workflows that are lost',
    sql: 'DELETE FROM throttles WHERE runnable_id NOT IN (SELECT id FROM runnables)',
  },
  {
    what: 'later emissions of sources that are lost',
    sql: 'DELETE FROM later_emissions WHERE emitter_id NOT IN (SELECT id FROM runnables)',
  },
  {
    what: 'changes of sources that are lost',
    sql: 'DELETE FROM source_changes WHERE source_id NOT IN (SELECT id FROM runnables)',
  },
  {
    what: 'watches of workflows and heartbeats that are lost',
    sql: `DELETE FROM watches WHERE id NOT IN (SELECT id FROM runnables) AND id NOT IN (SELECT id FROM heartbeats)`,
  },
  {
    what: null,
    sql: `DELETE FROM watch_counts WHERE id NOT IN (SELECT id FROM runnables)`,
  },
  {
    // Watched from the next ping on.
    what: 'heartbeats whose state is lost, without it',
    sql: `INSERT INTO watches (id, kind, owner_id, version, heard, rule, watched_at_ms, excused_ms, counts)
      SELECT id, 'heartbeat', owner_id, 1, 0, json_object('schedule', json(schedule), 'graceMs', grace_ms), updated_at_ms, 0,
        '{"pings":0,"failures":0,"startedAtMs":null,"durationMs":null}'
        FROM heartbeats WHERE id NOT IN (SELECT id FROM watches)`,
  },
  {
    what: 'operations of webhooks that are lost',
    sql: `DELETE FROM operations WHERE kind = 'resend' AND state IN ('running', 'paused')
      AND webhook_id NOT IN (SELECT id FROM webhooks)`,
  },
  {
    what: 'results of operations that are lost',
    sql: 'DELETE FROM operation_results WHERE operation_id NOT IN (SELECT id FROM operations)',
  },
  {
    what: 'operations, their replays under way counted again',
    sql: `UPDATE operations SET under_way = r.n FROM (SELECT o.id, count(u.entry) AS n FROM operations AS o
        LEFT JOIN operation_results AS u ON u.operation_id = o.id AND u.outcome = 'under_way' GROUP BY o.id) AS r
      WHERE r.id = operations.id AND under_way <> r.n`,
  },
  {
    what: 'records of data stores that are lost',
    sql: `DELETE FROM data_records WHERE NOT EXISTS (SELECT 1 FROM data_stores AS s
        WHERE s.id = store_id AND s.generation = data_records.generation)
      AND NOT EXISTS (SELECT 1 FROM data_gone AS g WHERE g.store_id = data_records.store_id AND g.generation = data_records.generation)`,
  },
  {
    what: 'data stores, counted again',
    sql: `UPDATE data_stores SET records = r.n, bytes = r.size FROM (SELECT s.id, count(d.key) AS n,
        coalesce(sum(d.bytes), 0) AS size FROM data_stores AS s LEFT JOIN data_records AS d
          ON d.store_id = s.id AND d.generation = s.generation GROUP BY s.id) AS r
      WHERE r.id = data_stores.id AND (records <> r.n OR data_stores.bytes <> r.size)`,
  },
];

const LOG: readonly Rule[] = [
  {
    what: 'errors whose group is lost, in no group',
    sql: `UPDATE emissions SET group_id = NULL
      WHERE group_id IS NOT NULL AND name = '${ERRORS}' AND group_id NOT IN (SELECT id FROM error_groups)`,
  },
  {
    what: 'hours of groups of errors that are lost',
    sql: 'DELETE FROM error_group_hours WHERE group_id NOT IN (SELECT id FROM error_groups)',
  },
  {
    what: 'deployments of groups of errors that are lost',
    sql: 'DELETE FROM error_group_deployments WHERE group_id NOT IN (SELECT id FROM error_groups)',
  },
  {
    what: 'groups of errors, counted again',
    sql: `UPDATE error_groups SET n = max(error_groups.n, e.n), last_entry = max(last_entry, e.newest)
      FROM (SELECT group_id, count(*) AS n, max(entry) AS newest FROM emissions WHERE group_id IS NOT NULL
        GROUP BY group_id) AS e WHERE e.group_id = id AND (error_groups.n < e.n OR last_entry < e.newest)`,
  },
  { what: 'runs whose event is lost', sql: `DELETE FROM runs WHERE ${NO_EVENT('runs')}` },
  { what: 'deliveries whose event is lost', sql: `DELETE FROM deliveries WHERE ${NO_EVENT('deliveries')}` },
  {
    what: 'withheld listeners whose event is lost',
    sql: `DELETE FROM withheld WHERE ${NO_EVENT('withheld')}`,
  },
  {
    // A repeated request with such a key is accepted again.
    what: 'idempotency keys whose event is lost',
    sql: `DELETE FROM idempotency WHERE ${NO_EVENT('idempotency')}`,
  },
  {
    what: 'open runs of workflows and sources that are lost or without code, cancelled',
    sql: `UPDATE runs SET state = 'cancelled', ended_at_ms = coalesce(started_at_ms, run / 1024), ${NO_WAIT}
      WHERE ${OPEN_RUN} AND runnable_id NOT IN (SELECT r.id FROM runnables AS r JOIN deployments AS d
        ON d.id = r.deployment_id WHERE d.steps <> '[]')`,
  },
  {
    what: 'runs that were to go on with a deployment that is lost, cancelled',
    sql: `UPDATE runs SET state = 'cancelled', ended_at_ms = coalesce(started_at_ms, run / 1024), ${NO_WAIT}
      WHERE ${OPEN_RUN} AND carried IS NOT NULL AND deployment_id NOT IN (SELECT id FROM deployments)`,
  },
  {
    what: 'open deliveries to webhooks that are lost, cancelled',
    sql: `UPDATE deliveries SET state = 'cancelled', ended_at_ms = delivery / 1024, due_at_ms = NULL
      WHERE ${OPEN_DELIVERY} AND listener_id GLOB 'wh_*' AND listener_id NOT IN (SELECT id FROM webhooks)`,
  },
  {
    what: 'failed runs whose error is lost',
    sql: `UPDATE runs SET error_entry = ${GONE} WHERE state = 'failed' AND error_entry IS NOT ${GONE}
      AND NOT EXISTS (SELECT 1 FROM emissions AS e WHERE e.entry = error_entry AND e.name = '${ERRORS}' AND e.cause_run IS run)`,
  },
  {
    what: 'attempts of deliveries that are lost',
    sql: 'DELETE FROM attempts WHERE delivery NOT IN (SELECT delivery FROM deliveries)',
  },
  {
    what: 'attempts after a lost one, renumbered',
    sql: `UPDATE attempts SET n = -p.place FROM (SELECT delivery, n,
        row_number() OVER (PARTITION BY delivery ORDER BY n) AS place FROM attempts) AS p
      WHERE p.delivery = attempts.delivery AND p.n = attempts.n AND p.place <> p.n`,
  },
  { what: null, sql: 'UPDATE attempts SET n = -n WHERE n < 0' },
  {
    what: 'deliveries some of whose attempts are lost',
    sql: `UPDATE deliveries SET requests_made = a.made, attempts_made = min(attempts_made, a.made),
        tries = min(tries, attempts_made, a.made)
      FROM (SELECT d.delivery, count(a.n) AS made FROM deliveries AS d LEFT JOIN attempts AS a USING (delivery)
        GROUP BY d.delivery) AS a
      WHERE a.delivery = deliveries.delivery AND requests_made <> a.made`,
  },
];

/** Repairs for a lost seal key, without which sealed columns cannot be opened. */
const UNSEALED: readonly Rule[] = [
  {
    what: 'workflows and sources whose settings are lost, deactivated',
    sql: `UPDATE runnables SET settings = '{}', configured_props = CASE WHEN configured_props IS NULL THEN NULL ELSE '{}' END,
      additional_props = NULL, active = 0 WHERE settings GLOB 'sealed*'`,
  },
  {
    what: 'deployments whose props are lost',
    sql: "UPDATE deployments SET step_props = NULL WHERE step_props GLOB 'sealed*'",
  },
  {
    what: 'webhooks whose secrets are lost, disabled',
    sql: "UPDATE webhooks SET secrets = '[]', settings = '{}', is_ordered = 0, active = 0 WHERE secrets GLOB 'sealed*'",
  },
  { what: 'accounts whose fields are lost, dropped', sql: "DELETE FROM accounts WHERE fields GLOB 'sealed*'" },
  { what: 'channels whose configuration is lost, dropped', sql: "DELETE FROM channels WHERE config GLOB 'sealed*'" },
  { what: 'requests of steps that are lost', sql: `DELETE FROM emissions WHERE name = '${HTTP}'` },
];

/** Repairs the store so that every check passes. `isUnsealed`: its seal key is lost. */
export function repair(writer: Connection, isUnsealed: boolean): SalvageRepair[] {
  const rules = [...(isUnsealed ? UNSEALED : []), ...CODE, ...CONFIGURATION, ...LOG];
  const repairs: SalvageRepair[] = [];
  for (const { what, sql } of rules) {
    const rows = writer.run(sql);
    if (rows > 0 && what !== null) repairs.push({ what, rows });
  }
  return [...repairs, ...repairLedger(writer)];
}
