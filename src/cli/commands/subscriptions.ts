// errand subscriptions list | create | delete

import { type Command, InvalidArgumentError } from 'commander';
import type { Subscription } from '../../client/client.ts';
import { withExamples } from '../shell/examples.ts';
import { findEmitter, findListener, namesOfEmitters } from '../shell/find.ts';
import { addDeleting, addListing, type Fields, type Limited } from '../shell/listing.ts';
import { type Column, printJson, printTable, timeColumn } from '../shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { msOf } from '../shell/text.ts';
import { choiceOption } from '../shell/values.ts';

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<Subscription>[] => [
  { title: 'ID', of: ({ id }) => id },
  { title: 'FROM', of: ({ emitter_id: id }) => names.get(id) ?? id },
  { title: 'TO', of: ({ listener_id: id }) => names.get(id) ?? id },
  timeColumn('CREATED', ({ created_at: s }) => msOf(s)),
  { title: 'EVENT', of: ({ event_name: name }) => name || '(default)' },
  { title: 'FILTER', of: ({ filter }) => (filter ? JSON.stringify(filter) : '') },
];

const fields = (one: Subscription): Fields => ({
  subscription: one.id,
  from: one.emitter_id,
  to: one.listener_id,
  event: one.event_name || '(default)',
  ...(one.filter ? { filter: JSON.stringify(one.filter) } : {}),
});

interface ListOptions extends Limited {
  readonly from?: string;
  readonly to?: string;
  readonly event?: string;
  readonly via?: 'subscription' | 'trigger';
}

interface CreateOptions extends ServerOptions {
  readonly event?: string;
  readonly filter?: Readonly<Record<string, unknown>>;
}

function filterValue(text: string): Readonly<Record<string, unknown>> {
  const { value } = parsed(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new InvalidArgumentError('It is a JSON object, such as {"body": {"type": [{"prefix": "invoice."}]}}.');
}

function parsed(text: string): { readonly value?: unknown } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return {};
  }
}

/** A shell takes `$errors` for a variable, and people leave its sign out. */
const ERRORS_MISTYPED = /^errors?$/i;

/** Whole kinds of emitters, and triggers, have no names. */
const UNNAMED = /^(\*|p_\*|dc_\*|(hi|ti|u)_\w+)$/;

export function addSubscriptions(program: Command, connect: Connect): void {
  const subscriptions = program
    .command('subscriptions')
    .description('list, create and delete subscriptions: which events go where');
  addListing<Subscription, ListOptions>(subscriptions, connect, {
    ...{ description: 'list subscriptions, newest first', none: 'no subscriptions' },
    columns: async (errand) => columnsOf(await namesOfEmitters(errand)),
    list: async (errand, { from, to, event, via }) => {
      const emitterId = from === undefined || UNNAMED.test(from) ? from : await findEmitter(errand, from);
      const listenerId = to === undefined ? undefined : await findListener(errand, to);
      const asked = { emitter_id: emitterId, listener_id: listenerId, event_name: event, via };
      return { items: errand.listSubscriptions(asked) };
    },
  })
    .option('--from <id>', 'only subscriptions to this workflow, source, webhook or heartbeat')
    .option('--to <id>', 'only subscriptions of this listener: a workflow, source or webhook')
    .option('--event <name>', 'only subscriptions to this event name')
    .addOption(
      choiceOption('--via <what>', 'those that were created, or those that stand for triggers; default: subscription', [
        'subscription',
        'trigger',
      ]),
    );
  const create = serverCommand(
    subscriptions,
    'create <from> <to>',
    'send what a workflow, source, webhook or heartbeat emits to a workflow, source or webhook',
  )
    .option('--event <name>', 'only events with this name, such as $errors; default: events without a name')
    .option('--filter <json>', 'only events whose content matches this filter', filterValue);
  withExamples(
    create,
    `errand subscriptions create "Charge orders" "Errors to chat" --event '$errors'`,
    "errand subscriptions create '*' wh_0Vj3aBc9dEfGhIjK --event '$errors'",
    `errand subscriptions create hi_0Vj3aBc9dEfGhIjK Invoices --filter '{"body": {"type": [{"prefix": "invoice."}]}}'`,
  );
  create.action(async (from: string, to: string, { event, filter, ...options }: CreateOptions) => {
    const { errand, out, isJson } = await connect(options);
    const emitter = UNNAMED.test(from) ? from : await findEmitter(errand, from);
    const { data } = await errand.createSubscription({
      emitter_id: emitter,
      listener_id: await findListener(errand, to),
      event_name: event,
      filter,
    });
    if (event !== undefined && ERRORS_MISTYPED.test(event))
      out.note(`"${event}" is a name that your own code emits; errors are --event '$errors', in quotes`);
    if (isJson) return printJson(out, data);
    await printTable(out, data, columnsOf(await namesOfEmitters(errand)));
  });
  addDeleting(subscriptions, connect, {
    ...{ kind: 'subscription', description: 'delete a subscription', fields },
    act: async (errand, id) => (await errand.deleteSubscription({ id })).data,
  });
}
