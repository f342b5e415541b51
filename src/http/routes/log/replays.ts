// Replays of many errors: the order, and what became of each error. Their progress: operations.ts.

import { PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { found } from '../../found.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf } from '../../list.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { Type } from '../../schema/type.ts';
import { OPERATION, operationToWire } from '../../wire/log/operations.ts';
import { REPLAY_RESULT, type SaidError, saidBy, withError } from '../../wire/log/replay-results.ts';
import { DRY_RUN, dryRunToWire, OUTCOME, REPLAY_INPUT, replayOrder } from '../../wire/log/replays.ts';
import { entryCursor } from './emitters.ts';

export function addReplayRoutes(app: App, deps: HttpDeps): void {
  addOrder(app, deps);
  addResults(app, deps);
}

function addOrder(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'replayErrors',
    tag: 'operations',
    access: 'write',
    summary: 'Replay many errors',
    description: `Runs the original events of a group’s, a workflow’s or the named errors again, byte for byte, oldest first: those that there are now. It goes on in the background, also after a restart: the answer is the operation, which shows its progress. A few go first (\`canary\`), and at most ${LIMITS.replaysUnderWay} are under way at a time. What cannot be replayed is counted and listed with its reason. When all errors of a group are fixed, it is resolved. With \`dry_run\` nothing is made, and the answer says how many there are, up to ${LIMITS.countedRecords.toLocaleString('en')}, how many of them would be replayed now and why the others would be passed over, and shows a few.`,
    body: REPLAY_INPUT,
    answer: dataOf(Type.Union([OPERATION, DRY_RUN])),
  });
  app.post('/v1/replays', { schema }, async ({ body, caller }) => {
    const order = replayOrder(body);
    if (body.dry_run === true) return { data: dryRunToWire(await actions.previewReplays(caller.ownerId, order)) };
    return { data: operationToWire(await actions.replayMany(caller.ownerId, order)) };
  });
}

function addResults(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listReplayResults',
    tag: 'operations',
    access: 'read',
    summary: 'List results of a replay',
    description:
      'Of each error that the replay has come to: its replay, and whether it is fixed. The newest error first.',
    params: idIn(PREFIX.operation, 'The operation: a replay.'),
    query: { outcome: Type.Optional(OUTCOME), ...LIST_QUERY },
    answer: listOf(REPLAY_RESULT),
  });
  app.get('/v1/operations/:id/results', { schema }, async ({ params, query, caller }) => {
    const page = pageOf(query, entryCursor);
    const { ownerId } = caller;
    const { kind } = found(await store.getOperation(ownerId, params.id), 'operation', params.id);
    if (kind !== 'replay') {
      throw new Refusal('impossible', `${params.id} sends deliveries again: they show their attempts themselves`);
    }
    const of = { ownerId, operationId: params.id, ...(query.outcome === undefined ? {} : { outcome: query.outcome }) };
    const results = await store.listReplayResults(of, page);
    const errors = new Map<number, SaidError>();
    // One after the other: each has its whole event with it.
    for (const { errorEntry } of results.items) {
      const error = errorEntry === null ? undefined : await store.getEmission(ownerId, errorEntry);
      if (error !== undefined) errors.set(error.entry, saidBy(error));
    }
    return listAnswer(results, (result) => withError(result, errors.get(result.errorEntry ?? -1) ?? null));
  });
}
