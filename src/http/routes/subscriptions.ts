import { PREFIX } from '../../domain/ids.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { contentCheck, contentVersion, tag } from '../etag.ts';
import { found } from '../found.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import { oneOf, text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import {
  EVENT_NAME_INPUT,
  FILTER_INPUT,
  LISTENER_ID,
  SUBSCRIPTION,
  subscriptionToWire,
  TRIPLE,
} from '../wire/subscriptions.ts';

const PARAMS = idIn(PREFIX.subscription, 'The subscription.');

export function addSubscriptionRoutes(app: App, deps: HttpDeps): void {
  addCreate(app, deps);
  addAuto(app, deps);
  addList(app, deps);
  addOne(app, deps);
  addDelete(app, deps);
}

function addCreate(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'createSubscription',
    tag: 'subscriptions',
    access: 'write',
    summary: 'Create a subscription',
    description:
      'From now on, the listener gets the events that the emitter emits with this name. With `event_name=$errors`, these are its errors, each with the original event. With a `filter`, only events that match it; receipts say which events were withheld. If there is already a subscription with the same emitter, listener and name, it is returned; with another filter, the request is refused (409).',
    body: { ...TRIPLE, filter: Type.Optional(FILTER_INPUT) },
    answer: dataOf(Type.Array(SUBSCRIPTION)),
  });
  app.post('/v1/subscriptions', { schema }, async ({ body, caller }) => {
    const { ownerId } = caller;
    const emitterId = body.emitter_id;
    const triple = { emitterId, listenerId: body.listener_id, eventName: body.event_name ?? '' };
    return { data: [subscriptionToWire(await actions.subscribe(ownerId, triple, body.filter))] };
  });
}

function addAuto(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'createAutoSubscription',
    tag: 'subscriptions',
    access: 'write',
    summary: 'Subscribe to everything that you have',
    description:
      'The same as a subscription to the emitter `*`: to everything that you have, and everything that you create later.',
    body: { event_name: EVENT_NAME_INPUT, listener_id: LISTENER_ID, filter: Type.Optional(FILTER_INPUT) },
    answer: dataOf(Type.Array(SUBSCRIPTION)),
  });
  app.post('/v1/auto_subscriptions', { schema }, async ({ body, caller }) => {
    const triple = { emitterId: '*', listenerId: body.listener_id, eventName: body.event_name ?? '' };
    return { data: [subscriptionToWire(await actions.subscribe(caller.ownerId, triple, body.filter))] };
  });
}

function addList(app: App, { store }: HttpDeps): void {
  for (const [url, id] of [
    ['/v1/subscriptions', 'listSubscriptions'],
    ['/v1/users/me/subscriptions', 'listMySubscriptions'],
  ] as const) {
    const schema = operation({
      id,
      tag: 'subscriptions',
      access: 'read',
      summary: id === 'listSubscriptions' ? 'List subscriptions' : 'List your subscriptions',
      description:
        id === 'listSubscriptions'
          ? 'Newest first. A workflow’s own triggers are subscriptions too, and shown with `via=trigger`.'
          : 'The same as `GET /v1/subscriptions`.',
      query: {
        emitter_id: Type.Optional(
          text({ description: 'Only subscriptions to this emitter.', example: 'p_0Vj3aBc9dEfGhIjK' }),
        ),
        listener_id: Type.Optional(
          text({ description: 'Only subscriptions of this listener.', example: 'p_1Wk4bCd0eFgHiJkL' }),
        ),
        event_name: Type.Optional(
          text({ description: 'Empty: subscriptions to events without a name.', example: '$errors' }),
        ),
        via: Type.Optional(
          oneOf(
            ['subscription', 'trigger'],
            'Only those that were created as subscriptions, or only those that stand for triggers; `subscription` when not given.',
          ),
        ),
        ...LIST_QUERY,
      },
      answer: listOf(SUBSCRIPTION),
    });
    app.get(url, { schema }, async ({ query, caller }) => {
      const { ownerId } = caller;
      const { emitter_id: emitterId, listener_id: listenerId, event_name: eventName, via = 'subscription' } = query;
      const page = pageOf(query, resourceCursor(PREFIX.subscription));
      const listed = await store.listSubscriptions({ ownerId, emitterId, listenerId, eventName, via }, page);
      return listAnswer(listed, subscriptionToWire);
    });
  }
}

function addOne(app: App, { actions, store }: HttpDeps): void {
  const schema = operation({
    id: 'getSubscription',
    tag: 'subscriptions',
    access: 'read',
    summary: 'Read a subscription',
    description: 'Also returns a subscription that stands for a trigger.',
    params: PARAMS,
    answer: dataOf(SUBSCRIPTION),
  });
  app.get('/v1/subscriptions/:id', { schema }, async ({ params, caller }, reply) => {
    const subscription = found(await store.getSubscription(caller.ownerId, params.id), 'subscription', params.id);
    tag(reply, contentVersion(subscription.filter));
    return { data: subscriptionToWire(subscription) };
  });

  const put = operation({
    id: 'updateSubscription',
    tag: 'subscriptions',
    access: 'write',
    summary: 'Change a subscription',
    description:
      'Changes the filter, for events that are accepted from then on; null removes it. To change the emitter, listener or name, create another subscription.',
    params: PARAMS,
    put: { takes: 'members' },
    body: { filter: FILTER_INPUT },
    takesIfMatch: true,
    answer: dataOf(SUBSCRIPTION),
  });
  app.put('/v1/subscriptions/:id', { schema: put }, async (request, reply) => {
    const { params, body, caller } = request;
    const change = { filter: body.filter, check: contentCheck(request, params.id) };
    const changed = await actions.filterSubscription(caller.ownerId, params.id, change);
    tag(reply, contentVersion(changed.filter));
    return { data: subscriptionToWire(changed) };
  });
}

function addDelete(app: App, { actions }: HttpDeps): void {
  const byId = operation({
    id: 'deleteSubscription',
    tag: 'subscriptions',
    access: 'write',
    summary: 'Unsubscribe by id',
    description: 'The listener gets no event that is accepted after the answer.',
    params: PARAMS,
    answer: dataOf(SUBSCRIPTION),
  });
  app.delete('/v1/subscriptions/:id', { schema: byId }, async ({ params, caller }) => {
    return { data: subscriptionToWire(await actions.unsubscribe(caller.ownerId, { id: params.id })) };
  });

  const byTriple = operation({
    id: 'deleteSubscriptionByTriple',
    tag: 'subscriptions',
    access: 'write',
    summary: 'Delete a subscription by its members',
    description:
      'By emitter, listener and name, all as they were given; no name means the subscription to events without a name.',
    body: TRIPLE,
    answer: dataOf(SUBSCRIPTION),
  });
  app.delete('/v1/subscriptions', { schema: byTriple }, async ({ body, caller }) => {
    const { ownerId } = caller;
    const emitterId = body.emitter_id;
    const triple = { emitterId, listenerId: body.listener_id, eventName: body.event_name ?? '' };
    return { data: subscriptionToWire(await actions.unsubscribe(ownerId, triple)) };
  });
}
