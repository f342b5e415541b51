// All errors and all runs of an owner, whatever they are of.

import { TOLD_WORDS, type Told } from '../../../domain/errors/told.ts';
import { numberedId, PREFIX, recordId } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { LIST_QUERY, numberCursor, pageOf } from '../../list.ts';
import { operation } from '../../openapi/operation.ts';
import { Type } from '../../schema/type.ts';
import { searchAnswer, searchOf } from '../../search.ts';
import { ERROR_FILTER, errorFilterOf, rangeOf, SEARCHED_TEXT, TIME_RANGE, word } from '../../wire/log/error-filter.ts';
import { FOUND_ERROR, foundErrorToWire } from '../../wire/log/found-errors.ts';
import { RUN, RUN_STATE, runToWire } from '../../wire/log/runs.ts';
import { EXPAND, entryCursor } from './emitters.ts';

const BOUNDS = `One request looks at no more than ${LIMITS.searchedRecords.toLocaleString('en')} records, and reads no more than ${LIMITS.searchedBytes / 2 ** 20} MiB of them: so a page may be short or empty although there are more matches. Then continue with \`next_cursor\`; \`searched_until_ms\` says how far the search came.`;

export function addSearchRoutes(app: App, deps: HttpDeps): void {
  addErrors(app, deps);
  addRuns(app, deps);
}

function addErrors(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'searchErrors',
    tag: 'errors',
    access: 'read',
    summary: 'Search all errors',
    description: `The errors of all workflows, sources and webhooks, also of deleted ones, as long as they are kept, newest first. ${BOUNDS}`,
    query: {
      ...ERROR_FILTER,
      told: Type.Optional(
        Type.Unsafe<(typeof TOLD_WORDS)[number]>({
          type: 'string',
          enum: [...TOLD_WORDS],
          examples: ['false'],
          description: '`true`: a listener was told. `false`: none was, for whatever reason. Or one state of `told`.',
        }),
      ),
      replayed: Type.Optional(
        Type.Boolean({
          description: '`true`: there is a replay of it, or a retry of its run. `false`: there is none.',
          examples: [false],
        }),
      ),
      expand: EXPAND,
      ...LIST_QUERY,
    },
    answer: searchOf(FOUND_ERROR),
  });
  app.get('/v1/errors', { schema }, async ({ query, caller }) => {
    const page = pageOf(query, entryCursor);
    const withEvent = query.expand === 'event';
    const { replayed } = query;
    const search = {
      ownerId: caller.ownerId,
      ...errorFilterOf(query),
      ...(query.told === undefined ? {} : { told: toldOf(query.told) }),
      ...(replayed === undefined ? {} : { replayed }),
    };
    const found = await store.searchErrors(search, page, withEvent);
    return searchAnswer(found, { toWire: (error) => foundErrorToWire(error, withEvent), cursorOf: recordId });
  });
}

function toldOf(word: (typeof TOLD_WORDS)[number]): boolean | Told {
  return word === 'true' || word === 'false' ? word === 'true' : word;
}

function addRuns(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'searchRuns',
    tag: 'runs',
    access: 'read',
    summary: 'Search all runs',
    description: `The runs of all workflows and sources, also of deleted ones, as long as they are kept, newest first. ${BOUNDS}`,
    query: {
      workflow_id: word('Only runs of this workflow.', 'p_0Vj3aBc9dEfGhIjK', LIMITS.nameChars),
      source_id: word('Only runs of this source.', 'dc_0Vj3aBc9dEfGhIjK', LIMITS.nameChars),
      state: Type.Optional(RUN_STATE),
      error_code: word('Only runs that failed with this code.', 'TypeError', LIMITS.codeChars),
      text: SEARCHED_TEXT('`$summary`, or of the event’s JSON text as it came'),
      ...TIME_RANGE,
      ...LIST_QUERY,
    },
    answer: searchOf(RUN),
  });
  app.get('/v1/runs', { schema }, async ({ query, caller }) => {
    const page = pageOf(query, numberCursor(PREFIX.run));
    const { workflow_id: workflowId, source_id: sourceId, state, error_code: errorCode, text } = query;
    if (workflowId !== undefined && sourceId !== undefined) {
      throw new Refusal('malformed', 'workflow_id and source_id exclude each other');
    }
    const runnableId = ofKind(workflowId, PREFIX.workflow) ?? ofKind(sourceId, PREFIX.source);
    const search = {
      ownerId: caller.ownerId,
      ...(runnableId === undefined ? {} : { runnableId }),
      ...(state === undefined ? {} : { state }),
      ...(errorCode === undefined ? {} : { errorCode }),
      ...(text === undefined ? {} : { text }),
      ...rangeOf(query),
    };
    const found = await store.searchRuns(search, page);
    const cursorOf = (run: number): string => numberedId(PREFIX.run, run);
    return searchAnswer(found, { toWire: runToWire, cursorOf });
  });
}

/**
 * Returns the id for a filter; for one of another kind the prefix alone. No run is of an id of another kind, so a filter with
 * one finds nothing.
 */
function ofKind(id: string | undefined, prefix: string): string | undefined {
  return id === undefined || id.startsWith(prefix) ? id : prefix;
}
