// A shop on a server: a week of orders, cards, stock and invoices, with what went wrong and who was told. It has something to
// show on every page of the dashboard; pictures are taken of it, and tests tell it with names that try to be more than text.

import type { Json } from '../support/client.ts';
import type { Errand } from '../support/errand.ts';
import type { Receiver } from '../support/receiver.ts';
import { until } from '../support/wait.ts';

export interface Telling {
  readonly errand: Errand;
  /** Where webhooks and notices go. */
  readonly receiver: Receiver;
  /** Every name and text of the story goes through it. */
  readonly say?: (text: string) => string;
  /** A text for the places that may be large. */
  readonly much?: string;
  readonly rounds?: number;
  /** Comes before each round, and sets the clock. */
  readonly before?: (round: number) => void | Promise<void>;
}

export interface Story {
  /** An address for each path of the router. */
  readonly paths: Readonly<Record<string, string>>;
  /** Of a mail, which is shown otherwise than a request to a webhook. */
  readonly mailPath: string;
  /** Of a run that waits for a person. */
  readonly waitingPath: string;
}

const CHECK = `interface Order {
  number: number;
  total: number;
  currency: string | null;
}

/** Checks an order, and passes it on to the warehouse. */
export default async ({ steps, $ }) => {
  const order: Order = steps.trigger.event.body;
  const currency = order.currency ?? 'EUR';
  console.log(\`order \${order.number} of \${order.total} \${currency}\`);
  $.export('$summary', \`Order \${order.number}: \${order.total} \${currency}\`);
  $.send.emit({ event: order });
  return { total: order.total.toFixed(2), currency };
};
`;
const STRICT = CHECK.replace(
  "  const currency = order.currency ?? 'EUR';",
  `  const { currency } = order;
  if (currency === null) {
    throw Object.assign(new Error(\`order \${order.number} has no currency\`), { code: 'NoCurrency' });
  }`,
);
const FIXED = STRICT.replace('currency === null', 'currency === null && order.total > 400').replace(
  'const { currency } = order',
  "const currency = order.currency ?? (order.total > 400 ? null : 'EUR')",
);
const STOCK = `export default async ({ steps }) => {
  const { sku, left = 12 } = steps.trigger.event.body ?? steps.trigger.event;
  if (left < 0) throw new RangeError(\`stock of \${sku} is negative: \${left}\`);
  return { sku, left };
};
`;
const INVOICE = `export default async ({ steps, $ }) => {
  const { customer } = steps.trigger.event.body;
  $.export('$summary', \`Invoice for \${customer?.name}\`);
  return { iban: customer.bank.iban };
};
`;
const pause = (ms: number): string => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;
const CHARGE = [
  ['load_order', `export default async ({ steps, $ }) => { ${pause(45)}\n  return steps.trigger.event.body; };`],
  [
    'reserve_stock',
    `export default async ({ steps, $ }) => { ${pause(80)}\n  $.export('reserved', true); return { sku: steps.load_order.$return_value.sku }; };`,
  ],
  [
    'charge_card',
    `export default async ({ steps, $ }) => {
  const { number, total, answers, note } = steps.load_order.$return_value;
  console.log(\`charging \${total} for order \${number}\`);
  console.warn('the bank is slow');
  ${pause(140)}
  if (!answers) {
    throw Object.assign(new Error('the bank did not answer within 5 s'), { code: 'PaymentTimeout' });
  }
  $.export('$summary', note ?? \`Charged \${total} EUR for order \${number}\`);
  return { charged: total, note };
};`,
  ],
  ['confirm', `export default async ({ steps }) => { ${pause(25)}\n  return { sent: true }; };`],
] as const;
const APPROVE = `export default ({ steps, $ }) => {
  $.export('urls', $.flow.suspend());
  $.export('$summary', \`Refund of \${steps.trigger.event.body.total} EUR\`);
  $.send.email({ subject: 'Approve a refund', html: '<h2>Refund</h2><p>Order 1042 asks for <b>59.90 EUR</b> back.</p>' });
};
`;
const FEED = `export default {
  key: 'supplier-prices', name: 'Supplier prices', version: '0.0.1', type: 'source',
  props: { http: '$.interface.http', currency: { type: 'string', label: 'Currency', default: 'EUR' } },
  run({ body }) {
    console.log('price of ' + body.sku + ': ' + body.said);
    this.$emit(body, { summary: body.said });
  },
};
`;
const NOTHING = 'export default () => {};';
const HTTP = [{ type: 'http' }];

const codeOf = (namespace: string, code: string): Json[] => [{ namespace, code }];

interface Cast {
  readonly orders: Json;
  readonly stock: Json;
  readonly invoices: Json;
  readonly cards: Json;
  readonly refunds: Json;
  readonly prices: Json;
  readonly warehouse: Json;
  readonly backup: Json;
  readonly store: Json;
}

const plain = (text: string): string => text;

async function cast({ errand, receiver, say = plain, much = 'yes' }: Telling): Promise<Cast> {
  const { client } = errand;
  const made = (name: string, steps: Json[], triggers: Json[] = HTTP): Promise<Json> =>
    client.post('/v1/workflows', { name: say(name), steps, triggers });
  const chargeSteps = CHARGE.map(([namespace, code]) => ({ namespace, code }));
  const [orders, stock, invoices, cards, refunds, told] = await Promise.all([
    made('Check orders', codeOf('check', CHECK)),
    made('Sync stock', codeOf('sync', STOCK)),
    made('Write invoices', codeOf('write', INVOICE)),
    made('Charge cards', chargeSteps),
    made('Approve refunds', codeOf('ask', APPROVE)),
    made('Tell the warehouse', codeOf('tell', NOTHING), []),
    made('Nightly report', codeOf('report', NOTHING), [
      { type: 'schedule', cron: '0 3 * * *', timezone: 'Europe/Oslo' },
    ]),
  ]);
  const prices = await client.post('/v1/sources', { name: say('Supplier prices'), component_code: FEED });
  await client.post('/v1/sources', {
    name: say('Every quarter of an hour'),
    component: 'schedule',
    configured_props: { timer: { intervalSeconds: 900 } },
  });
  const webhook = (name: string, path: string): Promise<Json> =>
    client.post('/v1/webhooks', { name: say(name), url: `${receiver.url}/${path}`, description: say(`For ${name}`) });
  const [warehouse, analytics, finance] = await Promise.all([
    webhook('Warehouse', 'warehouse'),
    webhook('Analytics', 'analytics'),
    webhook('Finance', 'finance'),
  ]);
  const links = [
    [orders, warehouse],
    [orders, analytics],
    [orders, told],
    [cards, finance, '$errors'],
    [stock, told, '$errors'],
    [prices, stock],
    [prices, analytics],
  ] as const;
  for (const [from, to, name] of links) await errand.subscribe(from.id, to.id, name);
  await client.put(`/v1/webhooks/${finance.id}`, { active: false });
  const onCall = await client.post('/v1/channels', {
    kind: 'slack',
    name: say('#on-call'),
    config: { url: receiver.url },
  });
  await client.post('/v1/channels', { kind: 'mail', name: say('Duty phone'), config: { to: 'duty@example.com' } });
  await client.put('/v1/users/me', { channels: [onCall.id] });
  const backup = await client.post('/v1/heartbeats', {
    name: say('Nightly backup'),
    cron: '0 2 * * *',
    grace_seconds: 1800,
  });
  await client.post('/v1/heartbeats', { name: say('Stock export'), interval_seconds: 3600, grace_seconds: 600 });
  for (const [app, name] of [
    ['stripe', 'Stripe, live'],
    ['slack', 'Slack of the shop'],
    ['postgres', 'Warehouse database'],
  ])
    await client.post('/v1/accounts', { app, name: say(name as string), fields: { token: 'x', region: 'eu' } });
  for (const [label, scopes] of [
    ['Deploys from CI', ['read', 'write']],
    ['Shop front', ['ingest']],
  ] as const)
    await client.post('/v1/keys', { label: say(label), scopes });
  const store = await client.post('/v1/data_stores', { name: say('Prices seen') });
  for (const sku of ['A-100', 'A-101', 'B-200', 'C-300'])
    await client.put(`/v1/data_stores/${store.id}/records/${encodeURIComponent(say(sku))}`, {
      value: { price: 12.5, seen: much },
    });
  await client.post('/v1/data_stores', { name: say('Order numbers') });
  return { orders, stock, invoices, cards, refunds, prices, warehouse, backup, store };
}

/** What happens in one round; the check of orders is strict from the middle on. */
async function play(at: Cast, { errand, say = plain, much }: Telling, round: number): Promise<void> {
  const { orders, stock, invoices, cards, prices, backup } = at;
  const customer = say(['Ada Lovelace', 'Grace Hopper', 'Mary Jackson'][round % 3] as string);
  const sent: Promise<unknown>[] = [];
  for (let n = 0; n < 4 + ((round * 7) % 5); n++) {
    const number = 1000 + round * 10 + n;
    const currency = (round + n) % 3 === 0 ? null : 'EUR';
    const items = [{ sku: `A-${100 + n}`, count: 1 + (n % 3), note: n === 0 ? much : undefined }];
    sent.push(errand.send(orders, { number, total: 39.5 + 17 * n, currency, customer, items }));
  }
  const note = much === undefined ? undefined : say('charged');
  sent.push(errand.send(cards, { number: 1000 + round, total: 59.9, sku: 'A-100', answers: round % 4 !== 1, note }));
  sent.push(errand.send(stock, { sku: say(`A-${100 + (round % 4)}`), left: round % 5 === 0 ? -1 - (round % 3) : 12 }));
  if (round % 6 === 0) sent.push(errand.send(invoices, { customer: { name: customer } }));
  sent.push(
    fetch(prices.endpoint_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        sku: `A-${100 + (round % 4)}`,
        price: 12.5 + round,
        said: say(`A-100 costs ${12.5 + round}`),
      }),
    }),
  );
  if (round % 8 === 0) sent.push(fetch(backup.ping_url, { method: 'POST' }));
  await Promise.all(sent);
}

export async function tell(telling: Telling): Promise<Story> {
  const { errand, receiver, rounds = 4, before } = telling;
  const { client } = errand;
  receiver.answer((n) => (n % 7 === 6 ? 503 : 200), {}, telling.say?.('received') ?? 'received');
  await before?.(0);
  const at = await cast(telling);
  for (let round = 0; round < rounds; round++) {
    await before?.(round);
    if (round === Math.floor(rounds * 0.55))
      await client.put(`/v1/workflows/${at.orders.id}`, { steps: codeOf('check', STRICT) });
    await play(at, telling, round);
    if (before) await errand.settled();
  }
  await errand.send(at.refunds, { total: 59.9 });
  await errand.settled();
  const first = async (path: string): Promise<Json> =>
    await until(`something at ${path}`, async () => (await client.get(path)).data[0]);
  const group = await first('/v1/error_groups?code=NoCurrency');
  const error = await first(`/v1/errors?group_id=${group.id}`);
  await client.put(`/v1/workflows/${at.orders.id}`, { steps: codeOf('check', FIXED) });
  const operation = await client.post('/v1/replays', { group_id: group.id });
  await until(
    'the end of the replay',
    async () => (await client.get(`/v1/operations/${operation.id}`)).data.ended_at_ms,
  );
  await errand.settled();
  await client.put(`/v1/error_groups/${group.id}`, {
    note:
      telling.say?.('note') ??
      'The web shop leaves the currency out for orders from Norway. Deployed a default; replaying.',
  });
  const stock = await first('/v1/error_groups?code=RangeError');
  await client.put(`/v1/error_groups/${stock.id}`, { state: 'muted', muted_errors: 100 });
  const run = await first(`/v1/runs?workflow_id=${at.cards.id}&state=succeeded`);
  const waiting = await first(`/v1/runs?workflow_id=${at.refunds.id}&state=waiting`);
  const delivery = await first(`/v1/webhooks/${at.warehouse.id}/deliveries?state=delivered`);
  const mail = await first('/v1/deliveries?kind=mail');
  return {
    paths: {
      '/sign-in': '/sign-in',
      '/': '/',
      '/errors': '/errors',
      '/errors/$groupId': `/errors/${group.id}`,
      '/errors/$groupId/$errorId': `/errors/${group.id}/${error.id}`,
      '/emitters/$emitterId/errors/$errorId': `/emitters/${at.orders.id}/errors/${error.id}`,
      '/workflows': '/workflows',
      '/workflows/$workflowId': `/workflows/${at.orders.id}`,
      '/@{$owner}/$workflow/edit': new URL(at.cards.editor_url).pathname,
      '/runs': '/runs',
      '/runs/$runId': `/runs/${run.id}`,
      '/webhooks': '/webhooks',
      '/webhooks/$webhookId': `/webhooks/${at.warehouse.id}`,
      '/deliveries': '/deliveries',
      '/deliveries/$deliveryId': `/deliveries/${delivery.id}`,
      '/operations': '/operations',
      '/operations/new': `/operations/new?group=${group.id}`,
      '/operations/$operationId': `/operations/${operation.id}`,
      '/notices': '/notices',
      '/sources': '/sources',
      '/sources/new': '/sources/new',
      '/sources/$sourceId': `/sources/${at.prices.id}`,
      '/subscriptions': '/subscriptions',
      '/settings': '/settings',
      '/keys': '/keys',
      '/accounts': '/accounts',
      '/data-stores': '/data-stores',
      '/data-stores/$storeId': `/data-stores/${at.store.id}`,
      '/heartbeats': '/heartbeats',
      '/heartbeats/$heartbeatId': `/heartbeats/${at.backup.id}`,
    },
    mailPath: `/deliveries/${mail.id}`,
    waitingPath: `/runs/${waiting.id}`,
  };
}
