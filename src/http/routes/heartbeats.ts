import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { expectedBy, tag } from '../etag.ts';
import { found } from '../found.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { Type } from '../schema/type.ts';
import { HEARTBEAT, HEARTBEAT_INPUT, heartbeatInput, heartbeatToWire } from '../wire/heartbeats.ts';
import { SHOWN_WATCH, shownWatch } from '../wire/watches.ts';

const PARAMS = idIn(PREFIX.heartbeat, 'The heartbeat.');

export function addHeartbeatRoutes(app: App, deps: HttpDeps): void {
  addCreate(app, deps);
  addList(app, deps);
  addOne(app, deps);
  addWatches(app, deps);
}

const pingUrl =
  ({ urls }: HttpDeps) =>
  (key: string): string =>
    `${urls.publicUrl()}/h/${key}`;

function addCreate(app: App, deps: HttpDeps): void {
  const schema = operation({
    id: 'createHeartbeat',
    tag: 'heartbeats',
    access: 'write',
    summary: 'Create a heartbeat',
    description: `An address that a job of yours calls each time it runs. When a ping is late, or says that the job failed, the heartbeat emits \`$errors\`. Watching begins with the first ping. At most ${LIMITS.heartbeatsPerOwner} an owner.`,
    body: HEARTBEAT_INPUT,
    example: { name: 'Nightly backup', cron: '0 3 * * *', timezone: 'Europe/Berlin', grace_seconds: 1800 },
    answer: dataOf(HEARTBEAT),
  });
  app.post('/v1/heartbeats', { schema }, async ({ body, caller }) => {
    const { schedule, ...input } = heartbeatInput(body, null);
    if (!schedule) throw new Error('a new heartbeat has a schedule');
    const made = await deps.actions.createHeartbeat(caller.ownerId, { ...input, schedule });
    return { data: heartbeatToWire(made, pingUrl(deps)) };
  });
}

function addList(app: App, deps: HttpDeps): void {
  const schema = operation({
    id: 'listHeartbeats',
    tag: 'heartbeats',
    access: 'read',
    summary: 'List heartbeats',
    description: 'Newest first.',
    query: LIST_QUERY,
    answer: listOf(HEARTBEAT),
  });
  app.get('/v1/heartbeats', { schema }, async ({ query, caller }) => {
    const page = await deps.store.listHeartbeats(caller.ownerId, pageOf(query, resourceCursor(PREFIX.heartbeat)));
    return listAnswer(page, (one) => heartbeatToWire(one, pingUrl(deps)));
  });
}

function addOne(app: App, deps: HttpDeps): void {
  const { actions, store } = deps;
  const answer = dataOf(HEARTBEAT);
  const get = operation({
    id: 'getHeartbeat',
    tag: 'heartbeats',
    access: 'read',
    summary: 'Read a heartbeat',
    description: 'Returns its state, and what is known of its pings.',
    params: PARAMS,
    answer,
  });
  app.get('/v1/heartbeats/:id', { schema: get }, async ({ params, caller }, reply) => {
    const one = found(await store.getHeartbeat(caller.ownerId, params.id), 'heartbeat', params.id);
    tag(reply, one.heartbeat);
    return { data: heartbeatToWire(one, pingUrl(deps)) };
  });

  const put = operation({
    id: 'updateHeartbeat',
    tag: 'heartbeats',
    access: 'write',
    summary: 'Change a heartbeat',
    description: 'A new schedule counts from now on, and so does the schedule of a heartbeat that is activated again.',
    params: PARAMS,
    put: { takes: 'members' },
    body: HEARTBEAT_INPUT,
    takesIfMatch: true,
    example: { active: false },
    answer,
  });
  app.put('/v1/heartbeats/:id', { schema: put }, async (request, reply) => {
    const { params, body, caller } = request;
    const { heartbeat } = found(await store.getHeartbeat(caller.ownerId, params.id), 'heartbeat', params.id);
    const input = { ...heartbeatInput(body, heartbeat.schedule), ...expectedBy(request) };
    const after = await actions.updateHeartbeat(caller.ownerId, params.id, input);
    tag(reply, after.heartbeat);
    return { data: heartbeatToWire(after, pingUrl(deps)) };
  });

  const remove = operation({
    id: 'deleteHeartbeat',
    tag: 'heartbeats',
    access: 'write',
    summary: 'Delete a heartbeat',
    description: 'Deletes the heartbeat with its subscriptions. Its address then answers 404.',
    params: PARAMS,
    answer,
  });
  app.delete('/v1/heartbeats/:id', { schema: remove }, async ({ params, caller }) => {
    return { data: heartbeatToWire(await actions.deleteHeartbeat(caller.ownerId, params.id), pingUrl(deps)) };
  });
}

function addWatches(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listWatches',
    tag: 'heartbeats',
    access: 'read',
    summary: 'List watches of a workflow',
    description: 'One for each member of `settings.watch` that is set; none while the workflow is not active.',
    params: idIn(PREFIX.workflow, 'The workflow.'),
    answer: Type.Object({ data: Type.Array(SHOWN_WATCH) }),
  });
  app.get('/v1/workflows/:id/watches', { schema }, async ({ params, caller }) => {
    found(await store.getWorkflow(caller.ownerId, params.id), 'workflow', params.id);
    const watches = await store.listWatches(caller.ownerId, params.id);
    return { data: watches.map(shownWatch).filter((shown) => shown !== null) };
  });
}
