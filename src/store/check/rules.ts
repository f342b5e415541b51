// The rules of `errand store check` about rows that belong together. The statements are the same for both backends;
// `all_runs` and `all_deliveries` are views.

import { ERRORS } from '../../domain/emission.ts';
import { numberedId, PREFIX, recordId } from '../../domain/ids.ts';

/**
 * The oldest event that nothing protects from retention. Retention deletes by age, so it has not deleted anything younger: a
 * younger event that is missing was lost. Without such an event, nothing can be said.
 */
const NEVER_PRUNED_FROM = `coalesce((SELECT e.entry FROM emissions AS e WHERE substr(e.emitter_id, 1, 2) NOT IN ('p_', 'dc', 'wh', 'hb')
  AND NOT EXISTS (SELECT 1 FROM all_runs AS r WHERE r.entry = e.entry AND r.state IN ('queued', 'running', 'waiting'))
  AND NOT EXISTS (SELECT 1 FROM all_deliveries AS d WHERE d.entry = e.entry
    AND d.state IN ('pending', 'sending', 'retrying', 'held'))
  AND NOT EXISTS (SELECT 1 FROM digests AS g WHERE g.newest_entry = e.entry)
  ORDER BY e.entry LIMIT 1), ${Number.MAX_SAFE_INTEGER})`;

export interface Rule {
  readonly check: string;
  readonly detail: string;
  /** The rows that break the rule, from FROM on. */
  readonly broken: string;
  /** The column of their number, or of another name for an example. */
  readonly example: string;
  readonly show?: (example: never) => string;
}

export const showRun = (run: number): string => numberedId(PREFIX.run, run);
export const showDelivery = (delivery: number): string => numberedId(PREFIX.delivery, delivery);

/** Returns the rules of runs that wait. `runs`: the table that has the open ones. */
export const waitRules = (runs: string): readonly Rule[] => [
  {
    check: 'run_waits_for_nothing',
    detail: 'runs that wait, with nothing to wait for or to go on with',
    broken: `${runs} WHERE state = 'waiting'
      AND (wait_kind IS NULL OR due_at_ms IS NULL OR carried IS NULL OR waits = 0)`,
    example: 'run',
    show: showRun,
  },
  {
    check: 'run_waits_no_longer',
    detail: 'runs with an end of their wait that do not wait',
    broken: `${runs} WHERE state <> 'waiting' AND (wait_kind IS NOT NULL OR due_at_ms IS NOT NULL)`,
    example: 'run',
    show: showRun,
  },
];

/** The rules of both backends. */
export const RULES: readonly Rule[] = [
  {
    check: 'run_without_event',
    detail: 'runs whose event is not in the log',
    broken: 'all_runs AS r WHERE NOT EXISTS (SELECT 1 FROM emissions AS e WHERE e.entry = r.entry)',
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'delivery_without_event',
    detail: 'deliveries whose event is not in the log',
    broken: 'all_deliveries AS d WHERE NOT EXISTS (SELECT 1 FROM emissions AS e WHERE e.entry = d.entry)',
    example: 'd.delivery',
    show: showDelivery,
  },
  {
    check: 'withheld_without_event',
    detail: 'withheld listeners whose event is not in the log',
    broken: 'withheld AS w WHERE NOT EXISTS (SELECT 1 FROM emissions AS e WHERE e.entry = w.entry)',
    example: 'w.entry',
    show: recordId,
  },
  {
    check: 'failed_run_without_error',
    detail: `failed runs without their ${ERRORS}`,
    broken: `all_runs AS r LEFT JOIN emissions AS e ON e.entry = r.error_entry
      WHERE r.state = 'failed' AND e.entry IS NULL AND (r.error_entry IS NULL OR r.error_entry >= ${NEVER_PRUNED_FROM})`,
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'failed_run_with_foreign_error',
    detail: `failed runs whose error entry is not their ${ERRORS}`,
    broken: `all_runs AS r JOIN emissions AS e ON e.entry = r.error_entry
      WHERE r.state = 'failed' AND (e.name <> '${ERRORS}' OR e.cause_run IS DISTINCT FROM r.run)`,
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'several_errors_of_one_run',
    detail: `runs with more than one ${ERRORS}`,
    // A retried run may also have the error of its first attempt.
    broken: `(SELECT cause_run, count(*) AS errors FROM emissions WHERE name = '${ERRORS}' AND cause_run IS NOT NULL
      GROUP BY cause_run HAVING count(*) > 1) AS e LEFT JOIN all_runs AS r ON r.run = e.cause_run
      WHERE e.errors > 2 OR r.attempt = 1`,
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'error_of_run_that_did_not_fail',
    detail: `${ERRORS} of runs that neither failed nor were retried`,
    broken: `emissions AS e JOIN all_runs AS r ON r.run = e.cause_run
      WHERE e.name = '${ERRORS}' AND r.state <> 'failed' AND r.attempt = 1`,
    example: 'r.run',
    show: showRun,
  },
  {
    check: 'error_without_group',
    detail: `${ERRORS} whose group is lost`,
    broken: `emissions AS e WHERE e.group_id IS NOT NULL AND e.name = '${ERRORS}'
      AND NOT EXISTS (SELECT 1 FROM error_groups AS g WHERE g.id = e.group_id AND g.owner_id = e.owner_id)`,
    example: 'e.entry',
    show: recordId,
  },
  {
    check: 'group_miscounted',
    detail: 'groups of errors that count fewer than are in the log, or than came in their hours or deployments',
    broken: `error_groups AS g
      LEFT JOIN (SELECT group_id, count(*) AS n, max(entry) AS newest FROM emissions WHERE group_id IS NOT NULL
        GROUP BY group_id) AS e ON e.group_id = g.id
      LEFT JOIN (SELECT group_id, CAST(sum(n) AS bigint) AS n FROM error_group_hours GROUP BY group_id) AS h
        ON h.group_id = g.id
      LEFT JOIN (SELECT group_id, CAST(sum(n) AS bigint) AS n FROM error_group_deployments GROUP BY group_id) AS d
        ON d.group_id = g.id
      WHERE g.n < coalesce(e.n, 0) OR g.n < coalesce(h.n, 0) OR g.n < coalesce(d.n, 0) OR g.last_entry < e.newest`,
    example: 'g.id',
  },
  {
    check: 'part_without_group',
    detail: 'hours and deployments of groups that are lost',
    broken: `(SELECT group_id FROM error_group_hours UNION SELECT group_id FROM error_group_deployments) AS p
      WHERE NOT EXISTS (SELECT 1 FROM error_groups AS g WHERE g.id = p.group_id)`,
    example: 'p.group_id',
  },
  {
    check: 'attempt_without_delivery',
    detail: 'attempts without their delivery',
    broken: `(SELECT delivery FROM attempts GROUP BY delivery) AS a
      WHERE NOT EXISTS (SELECT 1 FROM all_deliveries AS d WHERE d.delivery = a.delivery)`,
    example: 'a.delivery',
    show: showDelivery,
  },
  {
    check: 'attempts_with_gaps',
    detail: 'deliveries whose attempts are not numbered from 1 to their number of requests',
    broken: `(SELECT delivery, count(*) AS made, min(n) AS lowest, max(n) AS highest FROM attempts GROUP BY delivery) AS a
      JOIN all_deliveries AS d ON d.delivery = a.delivery
      WHERE a.lowest <> 1 OR a.highest <> a.made OR d.requests_made <> a.made`,
    example: 'd.delivery',
    show: showDelivery,
  },
  {
    check: 'attempts_missing',
    detail: 'deliveries with requests made, but no attempt',
    broken: `all_deliveries AS d WHERE d.requests_made > 0
      AND NOT EXISTS (SELECT 1 FROM attempts AS a WHERE a.delivery = d.delivery)`,
    example: 'd.delivery',
    show: showDelivery,
  },
  {
    check: 'attempts_miscounted',
    detail: 'deliveries with more counted attempts than requests, or more tries than counted attempts',
    broken: 'all_deliveries AS d WHERE d.attempts_made > d.requests_made OR d.tries > d.attempts_made',
    example: 'd.delivery',
    show: showDelivery,
  },
  {
    check: 'runnable_without_deployment',
    detail: 'workflows and sources without their active deployment',
    broken: `runnables AS r
      WHERE NOT EXISTS (SELECT 1 FROM deployments AS d WHERE d.id = r.deployment_id AND d.runnable_id = r.id)`,
    example: 'r.id',
  },
  {
    check: 'source_without_code',
    detail: 'sources whose code is not that of their active deployment',
    broken: `runnables AS r WHERE substr(r.id, 1, 3) = 'dc_' AND r.component_code IS NULL
      AND NOT EXISTS (SELECT 1 FROM deployment_codes AS u
        WHERE u.deployment_id = r.deployment_id AND u.hash = r.component_code_hash)`,
    example: 'r.id',
  },
  {
    check: 'deployment_without_code',
    detail: 'deployments without some of their code',
    broken: `deployment_codes AS u
      WHERE NOT EXISTS (SELECT 1 FROM codes AS c WHERE c.owner_id = u.owner_id AND c.hash = u.hash)`,
    example: 'u.deployment_id',
  },
  {
    check: 'code_without_deployment',
    detail: 'code that belongs to no deployment, and that is never deleted',
    broken: `(SELECT c.hash FROM codes AS c
        WHERE NOT EXISTS (SELECT 1 FROM deployment_codes AS u WHERE u.owner_id = c.owner_id AND u.hash = c.hash)
      UNION ALL SELECT u.hash FROM deployment_codes AS u
        WHERE NOT EXISTS (SELECT 1 FROM deployments AS d WHERE d.id = u.deployment_id AND d.owner_id = u.owner_id)) AS lost`,
    example: 'lost.hash',
  },
  {
    check: 'record_without_data_store',
    detail: 'records without a data store, which are never deleted',
    broken: `data_records AS r
      WHERE NOT EXISTS (SELECT 1 FROM data_stores AS s WHERE s.id = r.store_id AND s.generation = r.generation)
        AND NOT EXISTS (SELECT 1 FROM data_gone AS g WHERE g.store_id = r.store_id AND g.generation = r.generation)`,
    example: 'r.store_id',
  },
  {
    check: 'data_store_miscounted',
    detail: 'data stores whose counts differ from their records',
    broken: `data_stores AS s LEFT JOIN (SELECT store_id, generation, count(*) AS n, CAST(sum(bytes) AS bigint) AS bytes
        FROM data_records GROUP BY store_id, generation) AS r ON r.store_id = s.id AND r.generation = s.generation
      WHERE s.records <> coalesce(r.n, 0) OR s.bytes <> coalesce(r.bytes, 0)`,
    example: 's.id',
  },
  {
    check: 'later_without_source',
    detail: 'later emissions of sources that were deleted',
    broken: `later_emissions AS l WHERE NOT EXISTS (SELECT 1 FROM runnables AS r WHERE r.id = l.emitter_id)`,
    example: 'l.entry',
    show: recordId,
  },
  {
    check: 'watch_without_subject',
    detail: 'watches of workflows and heartbeats that were deleted',
    broken: `(SELECT id FROM watches UNION SELECT id FROM watch_counts) AS w
      WHERE NOT EXISTS (SELECT 1 FROM runnables AS r WHERE r.id = w.id)
        AND NOT EXISTS (SELECT 1 FROM heartbeats AS h WHERE h.id = w.id)`,
    example: 'w.id',
  },
  {
    check: 'heartbeat_without_watch',
    detail: 'heartbeats that are not watched',
    broken: `heartbeats AS h WHERE NOT EXISTS (SELECT 1 FROM watches AS w WHERE w.id = h.id AND w.kind = 'heartbeat')`,
    example: 'h.id',
  },
  {
    check: 'change_without_source',
    detail: 'changes of sources that were deleted',
    broken: `source_changes AS c WHERE NOT EXISTS (SELECT 1 FROM runnables AS r WHERE r.id = c.source_id)`,
    example: 'c.source_id',
  },
  {
    check: 'operation_without_webhook',
    detail: 'open operations of webhooks that were deleted',
    broken: `operations AS o WHERE o.kind = 'resend' AND o.state IN ('running', 'paused')
      AND NOT EXISTS (SELECT 1 FROM webhooks AS w WHERE w.id = o.webhook_id)`,
    example: 'o.id',
  },
  {
    check: 'operation_results',
    detail: 'operations that count other replays under way than their results',
    broken: `operations AS o WHERE o.kind = 'replay' AND o.under_way <> (SELECT count(*) FROM operation_results AS r
      WHERE r.operation_id = o.id AND r.outcome = 'under_way')`,
    example: 'o.id',
  },
  {
    check: 'result_without_operation',
    detail: 'results of operations that were deleted',
    broken: `operation_results AS r WHERE NOT EXISTS (SELECT 1 FROM operations AS o WHERE o.id = r.operation_id)`,
    example: 'r.operation_id',
  },
];
