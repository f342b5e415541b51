import { PREFIX } from '../../domain/ids.ts';
import type { Channel } from '../../domain/notices/channel.ts';
import { maySeeSecrets } from '../access/auth.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { expectedBy, tag } from '../etag.ts';
import { found } from '../found.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../list.ts';
import { dataOf, idIn, operation } from '../openapi/operation.ts';
import {
  CHANNEL,
  CHANNEL_CREATE,
  CHANNEL_TEST,
  CHANNEL_UPDATE,
  channelInput,
  channelTestToWire,
  channelToWire,
} from '../wire/notices/channels.ts';

const PARAMS = idIn(PREFIX.channel, 'The channel.');

export function addChannelRoutes(app: App, deps: HttpDeps): void {
  addCreate(app, deps);
  addReads(app, deps);
  addChanges(app, deps);
  addTest(app, deps);
}

function addCreate(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'createChannel',
    tag: 'channels',
    access: 'write',
    summary: 'Create a channel',
    description:
      'A channel receives notices about errors. It gets none until you choose it: for all errors, in `channels` of `PUT /v1/users/me`; for those of one workflow, in its setting `channels`.',
    body: CHANNEL_CREATE,
    example: { kind: 'slack', name: 'Team chat', config: { url: 'https://hooks.slack.com/services/T0/B0/XXXX' } },
    answer: dataOf(CHANNEL),
  });
  app.post('/v1/channels', { schema }, async ({ body, caller }) => {
    const input = { ...channelInput(body), kind: body.kind };
    return { data: channelToWire(await actions.createChannel(caller.ownerId, input), true) };
  });
}

function addReads(app: App, { store }: HttpDeps): void {
  const list = operation({
    id: 'listChannels',
    tag: 'channels',
    access: 'read',
    summary: 'List channels',
    description: 'Newest first.',
    query: LIST_QUERY,
    answer: listOf(CHANNEL),
  });
  app.get('/v1/channels', { schema: list }, async ({ query, caller }) => {
    const page = await store.listChannels(caller.ownerId, pageOf(query, resourceCursor(PREFIX.channel)));
    return listAnswer(page, (channel: Channel) => channelToWire(channel, maySeeSecrets(caller)));
  });

  const get = operation({
    id: 'getChannel',
    tag: 'channels',
    access: 'read',
    summary: 'Read a channel',
    description: 'Returns the channel without the secret members of its `config`.',
    params: PARAMS,
    answer: dataOf(CHANNEL),
  });
  app.get('/v1/channels/:id', { schema: get }, async ({ params, caller }, reply) => {
    const channel = found(await store.getChannel(caller.ownerId, params.id), 'channel', params.id);
    tag(reply, channel);
    return { data: channelToWire(channel, maySeeSecrets(caller)) };
  });
}

function addChanges(app: App, { actions }: HttpDeps): void {
  const put = operation({
    id: 'updateChannel',
    tag: 'channels',
    access: 'write',
    summary: 'Change a channel',
    description:
      'Changes single members of `config`: those that are left out stay as they are, null removes one, and a hidden value that is sent back as it was shown stays what it is. Retries of deliveries use the new configuration.',
    params: PARAMS,
    put: { takes: 'members', oneByOne: ['config'] },
    body: CHANNEL_UPDATE,
    takesIfMatch: true,
    example: { active: false },
    answer: dataOf(CHANNEL),
  });
  app.put('/v1/channels/:id', { schema: put }, async (request, reply) => {
    const { params, body, caller } = request;
    const input = { ...channelInput(body), ...expectedBy(request) };
    const channel = await actions.updateChannel(caller.ownerId, params.id, input);
    tag(reply, channel);
    return { data: channelToWire(channel, true) };
  });

  const remove = operation({
    id: 'deleteChannel',
    tag: 'channels',
    access: 'write',
    summary: 'Delete a channel',
    description:
      'Nothing is sent to the channel from then on, and it is taken out of the `channels` of `/v1/users/me`. While workflows name it in their setting `channels`, the answer is 409 and says which.',
    params: PARAMS,
    answer: dataOf(CHANNEL),
  });
  app.delete('/v1/channels/:id', { schema: remove }, async ({ params, caller }) => {
    return { data: channelToWire(await actions.deleteChannel(caller.ownerId, params.id), true) };
  });
}

function addTest(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'testChannel',
    tag: 'channels',
    access: 'write',
    summary: 'Send a test notice',
    description:
      'Sends one notice now, also to a channel that is not active, and returns the response. Nothing of it is stored. PagerDuty and Opsgenie get the end of an incident that never began, which shows whether they accept the key.',
    params: PARAMS,
    answer: dataOf(CHANNEL_TEST),
  });
  app.post('/v1/channels/:id/test', { schema }, async ({ params, caller }) => {
    return { data: channelTestToWire(await actions.testChannel(caller.ownerId, params.id)) };
  });
}
