// errand deliveries list | show | resend — errand mail list | show | resend

import { type Command, Option } from 'commander';
import type { Attempt, Delivery, DeliveryWhole, Errand } from '../../client/client.ts';
import { DELIVERY_STATES } from '../../domain/delivery/delivery.ts';
import { withExamples } from '../shell/examples.ts';
import { findId, namesOfAll } from '../shell/find.ts';
import { addActing, addListing, type Fields, type Limited } from '../shell/listing.ts';
import { type Column, printTable, stateStyle, timeColumn } from '../shell/output.ts';
import type { Connect, Remote, ServerOptions } from '../shell/remote.ts';
import { oneLine, safeLines, timeText, tookText } from '../shell/text.ts';
import { choiceOption } from '../shell/values.ts';

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<Delivery>[] => [
  timeColumn('TIME', ({ created_at_ms: ms }) => ms),
  { title: 'ID', of: ({ id }) => id },
  {
    title: 'TO',
    of: ({ webhook_id: webhook, channel_id: channel, origin, kind }) => {
      const id = webhook ?? channel;
      return id ? (names.get(id) ?? id) : (origin ?? kind);
    },
  },
  { title: 'OF', of: ({ emitter_id: id }) => names.get(id) ?? id },
  { title: 'EVENT', of: ({ event_name: name }) => name, goes: 1 },
  { title: 'STATE', of: ({ state }) => state, style: stateStyle },
  { title: 'ATTEMPTS', of: ({ attempts_made: made }) => made },
  timeColumn('NEXT', ({ next_attempt_at_ms: ms }) => ms),
  { title: 'WHY', of: ({ why }) => why },
];

const fields = (delivery: Delivery): Fields => ({
  delivery: delivery.id,
  kind: delivery.kind,
  to: delivery.webhook_id ?? delivery.channel_id ?? delivery.origin,
  'emitted by': delivery.emitter_id,
  event: delivery.event_name,
  subject: delivery.subject,
  state: delivery.state,
  attempts: delivery.attempts_made,
  created: timeText(delivery.created_at_ms),
  ended: timeText(delivery.ended_at_ms),
  next: timeText(delivery.next_attempt_at_ms),
  why: delivery.why,
});

/** Of an event, on a terminal. */
const EVENT_CHARS = 4096;

async function showAttempts({ out }: Remote, { attempts, event }: DeliveryWhole): Promise<void> {
  const last = attempts.at(-1);
  if (!last) return;
  await out.write('\n');
  await printTable(out, attempts, [
    { title: 'ATTEMPT', of: ({ n }) => n },
    timeColumn('TIME', ({ started_at_ms: ms }) => ms),
    { title: 'TOOK', of: ({ took_ms: ms }) => tookText(ms) },
    { title: 'OUTCOME', of: ({ outcome, status }) => (status === null ? outcome : `${outcome} ${status}`) },
    {
      title: 'DETAIL',
      of: ({ detail, response_body: body }) => `${detail}${body === '' ? '' : ` — ${oneLine(body)}`}`,
    },
  ]);
  const lines = exchangeLines(last, event);
  if (lines.length > 0) await out.write(`\n${lines.map((line) => safeLines(line).join('\n  ')).join('\n')}\n`);
}

/** Returns the request of an attempt, and what came back. */
function exchangeLines({ n, request, status, ...response }: Attempt, event: unknown): string[] {
  if (!request) return [];
  const { method, url, headers } = request;
  const [body = '', answered] = [JSON.stringify(event), Object.entries(response.response_headers)];
  return [
    `request of attempt ${n}, without the headers of the connection`,
    `  ${method} ${url}`,
    ...headers.map(({ name, value }) => `  ${name}: ${value ?? '(not kept)'}`),
    ...(body === ''
      ? []
      : [`  ${body.slice(0, EVENT_CHARS)}${body.length > EVENT_CHARS ? '… (--json has all of it)' : ''}`]),
    ...(status === null ? [] : ['', `response of attempt ${n}`, `  ${status}`]),
    ...answered.map(([name, value]) => `  ${name}: ${value}`),
    ...(response.response_body === '' ? [] : [`  ${response.response_body}`]),
  ];
}

interface ListOptions extends Limited {
  readonly state?: Delivery['state'];
  readonly webhook?: string;
  readonly channel?: string;
  /** Notices to channels are listed by their events alone. */
  readonly kind?: Exclude<Delivery['kind'], 'channel'>;
  readonly event?: string;
}

const KINDS = ['webhook', 'mail', 'http'] as const;

const stateOption = (): Option => choiceOption('--state <state>', 'only those in this state', DELIVERY_STATES);

export function addDeliveries(program: Command, connect: Connect): void {
  const deliveries = program
    .command('deliveries')
    .description('list, show and resend deliveries to webhooks, mailboxes and addresses');
  const list = addListing<Delivery, ListOptions>(deliveries, connect, {
    ...{ description: 'list the newest deliveries', none: 'no deliveries' },
    columns: async (errand) => columnsOf(await namesOfAll(errand)),
    list: async (errand, { state, webhook, channel, kind, event }) => {
      const webhookId = webhook === undefined ? undefined : await findId(errand, 'webhook', webhook);
      const channelId = channel === undefined ? undefined : await findId(errand, 'channel', channel);
      const asked = { state, kind, emission_id: event, webhook_id: webhookId, channel_id: channelId };
      return { items: errand.listDeliveries(asked) };
    },
  })
    .addOption(stateOption())
    .option('--webhook <id>', 'only deliveries to this webhook')
    .addOption(new Option('--channel <id>', 'only notices to this channel').conflicts(['kind', 'webhook']))
    .addOption(choiceOption('--kind <kind>', 'only those of this kind', KINDS))
    .option('--event <emit_id>', 'only deliveries of this event');
  withExamples(
    list,
    'errand deliveries list --state exhausted',
    'errand deliveries list --webhook "Errors to chat" --json',
  );
  addRest(deliveries, connect, 'delivery');
}

/** What a mail says in place of what it is an event of. */
const MAIL_COLUMNS: readonly Column<Delivery>[] = columnsOf(new Map()).flatMap(
  (column): readonly Column<Delivery>[] => {
    if (column.title === 'TO' || column.title === 'OF') return [];
    return column.title === 'EVENT' ? [{ title: 'SUBJECT', of: ({ subject }) => subject }] : [column];
  },
);

export function addMail(program: Command, connect: Connect): void {
  const mail = program.command('mail').description('list, show and resend mails');
  addListing<Delivery, Limited & { readonly state?: Delivery['state'] }>(mail, connect, {
    ...{ description: 'list the newest mails', none: 'no mails', columns: MAIL_COLUMNS },
    list: (errand, { state }) => errand.listDeliveries({ kind: 'mail', state }),
  }).addOption(stateOption());
  addRest(mail, connect, 'mail');
}

function addRest(parent: Command, connect: Connect, kind: 'delivery' | 'mail'): void {
  const act = async (errand: Errand, id: string): Promise<DeliveryWhole> => (await errand.getDelivery({ id })).data;
  const show = addActing(parent, connect, {
    ...{ kind, name: 'show', act, fields },
    description: `show a ${kind} with every attempt, and the last request and response; "last": the newest`,
    more: showAttempts,
  });
  withExamples(show, `errand ${parent.name()} show last`);
  addActing<Delivery, ServerOptions>(parent, connect, {
    ...{
      kind,
      name: 'resend',
      description: `send a ${kind} again, unless it is being sent or its webhook is disabled`,
      fields,
    },
    act: async (errand, id) => (await errand.resendDelivery({ id })).data,
  });
}
