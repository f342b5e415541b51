import { numberedId, numberOf, PREFIX } from '../../../domain/ids.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { found } from '../../found.ts';
import { LIST_QUERY, listAnswer, listOf, numberCursor, pageOf } from '../../list.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { id } from '../../openapi/schema.ts';
import { eventOf } from '../../params.ts';
import { Type } from '../../schema/type.ts';
import { clientIp } from '../../server/client-ip.ts';
import { pathOf } from '../../server/target.ts';
import { RUN, RUN_STATE, RUN_WHOLE, runToWire, runWholeToWire, STARTED, startedToWire } from '../../wire/log/runs.ts';
import { exists } from './emitters.ts';

export function addRunRoutes(app: App, deps: HttpDeps): void {
  addStart(app, deps);
  addList(app, deps);
  addOne(app, deps);
  addResume(app, deps);
  addRetry(app, deps);
}

function addStart(app: App, { actions, maxBodyBytes }: HttpDeps): void {
  const schema = operation({
    id: 'runWorkflow',
    tag: 'runs',
    access: 'write',
    summary: 'Run a workflow',
    description:
      'Runs the workflow with this event, whatever its triggers are. The code gets the bytes of `event` as they were sent.',
    params: idIn(PREFIX.workflow, 'The workflow.'),
    body: { event: Type.Unknown({ description: 'Any JSON value.', 'x-expected': 'any JSON value' }) },
    example: { event: { order: 12345 } },
    answer: dataOf(STARTED),
  });
  app.post('/v1/workflows/:id/runs', { schema }, async (request) => {
    const event = eventOf(request, maxBodyBytes);
    if (!event) throw new Refusal('malformed', 'event is missing; send {"event": …} with any JSON value');
    return { data: startedToWire(await actions.runWorkflow(request.caller.ownerId, request.params.id, event)) };
  });
}

function addList(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listRuns',
    tag: 'runs',
    access: 'read',
    summary: 'List runs of a workflow',
    description:
      'Newest first. `emission_id` is the id of the event that started the run, which its sender got in the answer.',
    params: idIn(PREFIX.workflow, 'The workflow.'),
    query: { state: Type.Optional(RUN_STATE), ...LIST_QUERY },
    answer: listOf(RUN),
  });
  app.get('/v1/workflows/:id/runs', { schema }, async ({ params, query, caller }) => {
    const { ownerId } = caller;
    const page = pageOf(query, numberCursor(PREFIX.run));
    await exists(store, ownerId, { id: params.id, noun: 'workflow', prefix: PREFIX.workflow });
    const listed = await store.listRuns({ ownerId, runnableId: params.id, state: query.state }, page);
    return listAnswer(listed, runToWire);
  });
}

function addOne(app: App, { actions, store }: HttpDeps): void {
  const get = operation({
    id: 'getRun',
    tag: 'runs',
    access: 'read',
    summary: 'Read a run',
    description:
      'Returns the state and times of the run, its event as it arrived, each step with its return value and exports, the log lines, the error, what caused the run, and what it caused.',
    params: idIn(PREFIX.run, 'The run.'),
    answer: dataOf(RUN_WHOLE),
  });
  app.get('/v1/runs/:id', { schema: get }, async ({ params, caller }) => {
    const run = found(numberOf(PREFIX.run, params.id), 'run', params.id);
    return { data: runWholeToWire(found(await store.getRun(caller.ownerId, run), 'run', params.id)) };
  });

  const cancel = operation({
    id: 'cancelRun',
    tag: 'runs',
    access: 'write',
    summary: 'Cancel a run',
    description:
      'A queued or waiting run is cancelled at once; a running one is asked to stop. The answer has the state after that.',
    params: idIn(PREFIX.run, 'The run.'),
    answer: dataOf(Type.Object({ id: id('r_'), state: RUN_STATE })),
  });
  app.post('/v1/runs/:id/cancel', { schema: cancel }, async ({ params, caller }) => {
    const run = found(numberOf(PREFIX.run, params.id), 'run', params.id);
    return { data: { id: numberedId(PREFIX.run, run), state: await actions.cancelRun(caller.ownerId, run) } };
  });
}

function addResume(app: App, { actions, maxBodyBytes, urls }: HttpDeps): void {
  const schema = operation({
    id: 'resumeRun',
    tag: 'runs',
    access: 'write',
    summary: 'Resume a waiting run',
    description:
      'Does the same as a request to its `resume_url`: the run continues with the next step, where `data` is `$resume_data` of the step that waited, with its bytes as they were sent. 409 when the run does not wait, or waits for a retry.',
    params: idIn(PREFIX.run, 'The run.'),
    body: { data: Type.Optional(Type.Unknown({ description: 'Any JSON value; null when not given.' })) },
    example: { data: { approved: true } },
    answer: dataOf(Type.Object({ id: id('r_'), state: RUN_STATE })),
  });
  app.post('/v1/runs/:id/resume', { schema }, async (request) => {
    const { params, caller, url } = request;
    const run = found(numberOf(PREFIX.run, params.id), 'run', params.id);
    const data = Buffer.from(eventOf(request, maxBodyBytes, 'data') ?? 'null').toString();
    // Without headers: they have the caller's key.
    const head = {
      method: 'POST',
      path: pathOf(url),
      query: {},
      client_ip: clientIp(request.raw),
      url: urls.publicUrl() + pathOf(url),
    };
    const text = `${JSON.stringify({ ...head, headers: {} }).slice(0, -1)},"body":${data}}`;
    return { data: { id: numberedId(PREFIX.run, run), state: await actions.resumeRun(caller.ownerId, run, text) } };
  });
}

function addRetry(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'retryRun',
    tag: 'runs',
    access: 'write',
    summary: 'Retry a failed run',
    description:
      'Creates a new run with the same event, byte for byte, and the active deployment. It starts at the step that failed, with the results of the steps before it. 409 when the run has not failed, or was already retried and `again` is not true; 422 when the active deployment has other steps before the failed one.',
    params: idIn(PREFIX.run, 'The run that failed, of a workflow.'),
    body: {
      again: Type.Optional(
        Type.Boolean({
          description: 'Also when a retry of the run, or a replay of its error, was made before and was not cancelled.',
          examples: [false],
        }),
      ),
    },
    answer: dataOf(STARTED),
  });
  app.post('/v1/runs/:id/retry', { schema }, async ({ params, body, caller }) => {
    const run = found(numberOf(PREFIX.run, params.id), 'run', params.id);
    return { data: startedToWire(await actions.retryRun(caller.ownerId, run, { isAgain: body.again === true })) };
  });
}
