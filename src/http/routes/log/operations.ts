import { PREFIX } from '../../../domain/ids.ts';
import { OPERATION_KINDS, OPERATION_ORDERS, type OperationOrder } from '../../../domain/operation.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { found } from '../../found.ts';
import { LIST_QUERY, listAnswer, listOf, pageOf, resourceCursor } from '../../list.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { oneOf, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import {
  OPERATION,
  operationToWire,
  RESEND,
  RESEND_DRY_RUN,
  resendDryRunToWire,
  resendInput,
} from '../../wire/log/operations.ts';

const PARAMS = idIn(PREFIX.operation, 'The operation.');

const ORDERS: Readonly<Record<OperationOrder, { readonly summary: string; readonly description: string }>> = {
  pause: {
    summary: 'Pause an operation',
    description:
      'Nothing more is sent again or replayed until it is resumed. Deliveries already due, and replays under way, a few hundred at most, go on.',
  },
  resume: { summary: 'Resume an operation', description: 'Continues where it was paused.' },
  cancel: {
    summary: 'Cancel an operation',
    description: 'Ends the operation. Deliveries already due, and replays under way, a few hundred at most, go on.',
  },
};

export function addOperationRoutes(app: App, deps: HttpDeps): void {
  addResend(app, deps);
  addReads(app, deps);
  addOrders(app, deps);
}

function addResend(app: App, { actions, clock }: HttpDeps): void {
  const schema = operation({
    id: 'resendWebhook',
    tag: 'operations',
    access: 'write',
    summary: 'Send a webhook’s deliveries again',
    description:
      'All that were accepted within a period and are in one of the states, oldest first. It continues in the background, also after a restart: the answer is the operation, which shows its progress. With `dry_run` nothing is sent, and the answer says how many there are, and shows a few.',
    params: idIn(PREFIX.webhook, 'The webhook.'),
    body: RESEND,
    answer: dataOf(Type.Union([OPERATION, RESEND_DRY_RUN])),
  });
  app.post('/v1/webhooks/:id/resend', { schema }, async ({ params, body, caller }) => {
    const input = resendInput(body, clock.nowMs());
    const { ownerId } = caller;
    if (body.dry_run === true) {
      return { data: resendDryRunToWire(await actions.previewResend(ownerId, params.id, input)) };
    }
    return { data: operationToWire(await actions.resendWebhook(ownerId, params.id, input)) };
  });
}

function addReads(app: App, { store }: HttpDeps): void {
  const list = operation({
    id: 'listOperations',
    tag: 'operations',
    access: 'read',
    summary: 'List operations',
    description: 'Newest first.',
    query: {
      kind: Type.Optional(oneOf(OPERATION_KINDS, 'Only those of this kind.')),
      webhook_id: Type.Optional(text({ description: 'Only those of this webhook.', example: 'wh_0Vj3aBc9dEfGhIjK' })),
      ...LIST_QUERY,
    },
    answer: listOf(OPERATION),
  });
  app.get('/v1/operations', { schema: list }, async ({ query, caller }) => {
    const page = pageOf(query, resourceCursor(PREFIX.operation));
    const { webhook_id: webhookId, kind } = query;
    const of = {
      ownerId: caller.ownerId,
      ...(webhookId === undefined ? {} : { webhookId }),
      ...(kind === undefined ? {} : { kind }),
    };
    return listAnswer(await store.listOperations(of, page), operationToWire);
  });

  const get = operation({
    id: 'getOperation',
    tag: 'operations',
    access: 'read',
    summary: 'Read an operation',
    description: 'Returns its progress, and why it is paused or ended early.',
    params: PARAMS,
    answer: dataOf(OPERATION),
  });
  app.get('/v1/operations/:id', { schema: get }, async ({ params, caller }) => {
    const one = found(await store.getOperation(caller.ownerId, params.id), 'operation', params.id);
    return { data: operationToWire(one) };
  });
}

function addOrders(app: App, { actions }: HttpDeps): void {
  for (const order of OPERATION_ORDERS) {
    const { summary, description } = ORDERS[order];
    const schema = operation({
      id: `${order}Operation`,
      tag: 'operations',
      access: 'write',
      summary,
      description: `${description} 409 when it is over; repeating the request is not an error.`,
      params: PARAMS,
      answer: dataOf(OPERATION),
    });
    app.post(`/v1/operations/:id/${order}`, { schema }, async ({ params, caller }) => {
      return { data: operationToWire(await actions.orderOperation(caller.ownerId, params.id, order)) };
    });
  }
}
