import { PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { SourceInput } from '../../domain/requests.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { expectedBy, tag } from '../etag.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { eventOf } from '../params.ts';
import { Type } from '../schema/type.ts';
import { STARTED, startedToWire } from '../wire/log/runs.ts';
import { SOURCE_CREATE, SOURCE_UPDATE, SOURCE_WHOLE, sourceWholeToWire } from '../wire/sources.ts';
import { listenersInput } from '../wire/subscriptions.ts';
import { addSourceEventRoutes } from './log/source-events.ts';
import { addSourceLogRoute } from './log/source-logs.ts';
import { addSourceStateRoute } from './log/source-state.ts';

const PARAMS = idIn(PREFIX.source, 'The source.');

export function addSourceRoutes(app: App, deps: HttpDeps): void {
  addCreate(app, deps);
  addList(app, deps);
  addOne(app, deps);
  addSourceEventRoutes(app, deps);
  addInvoke(app, deps);
  addSourceLogRoute(app, deps);
  addSourceStateRoute(app, deps);
}

interface SourceParameters {
  readonly name?: string;
  readonly active?: boolean;
  readonly component_code?: string;
  readonly component_path?: string;
  readonly component?: string;
  readonly configured_props?: Record<string, unknown>;
}

function sourceInput(asked: SourceParameters): SourceInput {
  const given = WAYS.filter((way) => asked[way] !== undefined);
  if (given.length > 1) throw malformed(given[1] as string, `is one too many beside ${given[0]}: ${ONE_WAY}`);
  const { name, active, component_code: componentCode, configured_props: configuredProps } = asked;
  const { component_path: componentPath, component } = asked;
  const file = {
    ...(componentPath === undefined ? {} : { componentPath }),
    ...(component === undefined ? {} : { component }),
  };
  return { name, active, componentCode, configuredProps, ...file };
}

const WAYS = ['component_code', 'component_path', 'component'] as const;
const ONE_WAY = 'a source is made of component_code, component_path, or component';

function malformed(parameter: string, message: string): Refusal {
  return new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}

function addCreate(app: App, { actions, urls }: HttpDeps): void {
  const schema = operation({
    id: 'createSource',
    tag: 'sources',
    access: 'write',
    summary: 'Create a source',
    description:
      'Deploys a component, given as code, by its path in the server’s folder of components, or by the key of a built-in one. Its hooks `deploy` and `activate` run before the answer. If a hook throws, the answer is 422, and no source is created.',
    body: SOURCE_CREATE,
    example: {
      name: 'Clock',
      component_code:
        "export default {\n  props: { timer: '$.interface.timer' },\n  run(event) { this.$emit(event); },\n};\n",
      configured_props: { timer: { intervalSeconds: 900 } },
    },
    answer: dataOf(SOURCE_WHOLE),
  });
  app.post('/v1/sources', { schema }, async ({ body, caller }) => {
    const input = { ...sourceInput(body), listeners: listenersInput(body.listeners) };
    if (!WAYS.some((way) => body[way] !== undefined)) throw malformed('component_code', `is missing: ${ONE_WAY}`);
    return { data: sourceWholeToWire(await actions.createSource(caller.ownerId, input), urls.endpointUrl, false) };
  });
}

function addList(app: App, { store, urls }: HttpDeps): void {
  for (const [url, id] of [
    ['/v1/sources', 'listSources'],
    ['/v1/users/me/sources', 'listMySources'],
  ] as const) {
    const schema = operation({
      id,
      tag: 'sources',
      access: 'read',
      summary: id === 'listSources' ? 'List sources' : 'List your sources',
      description: id === 'listSources' ? 'Newest first, without their code.' : 'The same as `GET /v1/sources`.',
      query: LIST_QUERY,
      answer: listOf(SOURCE_WHOLE),
    });
    app.get(url, { schema }, async ({ query, caller }) => {
      const page = pageOf(query, resourceCursor(PREFIX.source));
      const { items, ...rest } = await store.listSources(caller.ownerId, page);
      const shown = items.map(async (source) => {
        const triggers = await store.listTriggers(caller.ownerId, source.id);
        return { source, triggers: triggers.map((trigger) => ({ trigger })) };
      });
      const whole = { ...rest, items: await Promise.all(shown) };
      return listAnswer(whole, (one) => sourceWholeToWire(one, urls.endpointUrl, false));
    });
  }
}

function addOne(app: App, { actions, urls }: HttpDeps): void {
  const answer = dataOf(SOURCE_WHOLE);
  const get = operation({
    id: 'getSource',
    tag: 'sources',
    access: 'read',
    summary: 'Read a source',
    description: 'Returns its code, and its address if it has an HTTP interface.',
    params: PARAMS,
    answer,
  });
  app.get('/v1/sources/:id', { schema: get }, async ({ params, caller }, reply) => {
    const whole = await actions.getSource(caller.ownerId, params.id);
    tag(reply, whole.source);
    return { data: sourceWholeToWire(whole, urls.endpointUrl, true) };
  });

  const put = operation({
    id: 'updateSource',
    tag: 'sources',
    access: 'write',
    summary: 'Change a source',
    description:
      'The hook `deactivate` runs before the change, and `activate` after it. The id and the address stay the same. With the same `component_path` or `component`, its current code is deployed.',
    params: PARAMS,
    put: { takes: 'members' },
    body: SOURCE_UPDATE,
    takesIfMatch: true,
    example: { configured_props: { timer: { cron: '0 9 * * 1-5' } } },
    answer,
  });
  app.put('/v1/sources/:id', { schema: put }, async (request, reply) => {
    const input = { ...sourceInput(request.body), ...expectedBy(request) };
    const whole = await actions.updateSource(request.caller.ownerId, request.params.id, input);
    tag(reply, whole.source);
    return { data: sourceWholeToWire(whole, urls.endpointUrl, false) };
  });

  const remove = operation({
    id: 'deleteSource',
    tag: 'sources',
    access: 'write',
    summary: 'Delete a source',
    description: 'Runs its hook `deactivate`, and deletes the source even if the hook fails.',
    params: PARAMS,
    answer,
  });
  app.delete('/v1/sources/:id', { schema: remove }, async ({ params, caller }) => {
    const whole = await actions.deleteSource(caller.ownerId, params.id);
    return { data: sourceWholeToWire(whole, urls.endpointUrl, false) };
  });
}

function addInvoke(app: App, { actions, maxBodyBytes }: HttpDeps): void {
  const schema = operation({
    id: 'invokeSource',
    tag: 'sources',
    access: 'write',
    summary: 'Run a source now',
    description:
      'Runs it with `event`. Without `event`, with the event that its timer would emit now, or with an empty object.',
    params: PARAMS,
    body: { event: Type.Optional(Type.Unknown({ description: 'Any JSON value; its bytes as sent.' })) },
    example: { event: {} },
    answer: dataOf(STARTED),
  });
  app.post('/v1/sources/:id/invoke', { schema }, async (request) => {
    const event = eventOf(request, maxBodyBytes) ?? null;
    return { data: startedToWire(await actions.invokeSource(request.caller.ownerId, request.params.id, event)) };
  });
}
