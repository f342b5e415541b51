// The options that choose errors, and what they are in the interface.

import type { Command } from 'commander';
import type { Errand, ReplayErrorsInput } from '../../../client/client.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { CliError, EXIT } from '../../shell/exit.ts';
import { findDeployment, findEmitter, findId, KINDS } from '../../shell/find.ts';
import { take, timeValue } from '../../shell/values.ts';

export interface ErrorFilter {
  readonly of?: string;
  readonly code?: string;
  readonly group?: string;
  readonly step?: string;
  readonly text?: string;
  readonly deployment?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Adds the options that select errors. `hasTimes`: also from when until when. */
export function errorFilter(command: Command, hasTimes = true): Command {
  command
    .option('--of <id>', 'only errors of this workflow, source, webhook or heartbeat')
    .option('--code <code>', 'only errors with this code, such as TypeError')
    .option('--group <id>', 'only errors of this group')
    .option('--step <name>', 'only errors of steps with this name')
    .option('--text <text>', 'only errors whose message or cause contains this text')
    .option('--deployment <id>', 'only errors of this deployment');
  if (!hasTimes) return command;
  return command
    .option('--since <time>', 'from this time on: an age such as 2h or 7d, or 2026-01-31T12:00:00Z', timeValue)
    .option('--until <time>', 'before this time', timeValue);
}

export interface ErrorQuery {
  readonly emitter_id?: string;
  readonly code?: string;
  readonly group_id?: string;
  readonly step?: string;
  readonly text?: string;
  readonly deployment_id?: string;
  readonly since?: string;
  readonly until?: string;
}

export async function errorQuery(errand: Errand, given: ErrorFilter): Promise<ErrorQuery> {
  const emitterId = given.of === undefined ? undefined : await findEmitter(errand, given.of);
  return {
    emitter_id: emitterId,
    code: given.code,
    group_id: given.group === undefined ? undefined : await findId(errand, 'group', given.group),
    step: given.step,
    text: given.text,
    deployment_id: await deploymentOf(errand, emitterId, given.deployment),
    since: given.since,
    until: given.until,
  };
}

async function deploymentOf(
  errand: Errand,
  emitterId: string | undefined,
  given: string | undefined,
): Promise<string | undefined> {
  if (given === undefined || KINDS.deployment.id.test(given)) return given;
  if (emitterId !== undefined) return findDeployment(errand, emitterId, given);
  throw new CliError(`--deployment: "${given}" is no whole id: name its workflow with --of`, EXIT.usage);
}

type Selection = Partial<
  Pick<
    ReplayErrorsInput,
    | 'group_id'
    | 'workflow_id'
    | 'source_id'
    | 'error_ids'
    | 'since'
    | 'until'
    | 'code'
    | 'step'
    | 'failed_deployment_id'
  >
>;

/**
 * Returns which errors are replayed, as the interface takes it. What it cannot choose by is looked for now, and each error named.
 * Throws `CliError` when there are none, or more than can be named.
 */
export async function replaySelection(errand: Errand, query: ErrorQuery): Promise<Selection> {
  const { emitter_id: emitterId, group_id: groupId, text, deployment_id: deploymentId, ...rest } = query;
  if (emitterId === undefined && groupId === undefined)
    throw new CliError('name errors by their ids, or choose them with --of or --group', EXIT.usage);
  const limits = { ...rest, failed_deployment_id: deploymentId };
  // An interface takes one of both.
  const isOne = emitterId === undefined || groupId === undefined;
  if (isOne && text === undefined && /^(p|dc)_|^$/.test(emitterId ?? '')) {
    const isOfSource = emitterId?.startsWith('dc_') ?? false;
    const of = isOfSource ? { source_id: emitterId } : { workflow_id: emitterId };
    return { group_id: groupId, ...of, ...limits };
  }
  const { records, isMore } = await take(errand.searchErrors(query), LIMITS.replayedIds);
  if (records.length === 0) throw new CliError('there are no such errors');
  const most = LIMITS.replayedIds.toLocaleString('en');
  if (isMore)
    throw new CliError(
      `more than ${most} errors fit, and what is chosen with --text, or with both --of and --group, is replayed by ids, ${most} at a time: choose fewer with --since, --until, --code, --step or --deployment`,
    );
  return { error_ids: records.map(({ id }) => id) };
}
