// Examples that are deployed by one click: ordinary workflows, each with a way to see it work at once.

import type { CreateWorkflowInput } from '../../../src/client/client.ts';
import type { Workflow } from '../api/types.ts';

export interface Example {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly workflow: CreateWorkflowInput;
  /** Sent to the workflow's HTTP trigger when it is deployed. */
  readonly event?: unknown;
  /** The next step is a webhook that hears it: only a person knows its address. */
  readonly needsWebhook?: true;
}

const CHECK_ORDER = `// Works out what an order costs. It has a mistake, on purpose: it believes that every order has a voucher.
export default {
  async run({ steps, $ }) {
    const order = steps.trigger.event.body;
    const sum = order.lines.reduce((total, { price, count }) => total + price * count, 0);
    const toPay = (sum - order.voucher.amount).toFixed(2);
    $.export('$summary', \`\${order.customer} pays \${toPay}\`);
    return { to_pay: toPay };
  },
};
`;

const CHECK_STOCK = `// Runs every minute, and fails when stock is low: a check that tells of itself.
export default {
  async run({ $ }) {
    const stock = { apples: 12, pears: Math.floor(Math.random() * 6) };
    $.export('$summary', \`\${stock.pears} pears left\`);
    if (stock.pears < 3) throw new Error(\`Only \${stock.pears} pears left\`);
    return stock;
  },
};
`;

const FAN_OUT = `// Emits each order once; every webhook and workflow that is subscribed to this workflow gets it.
export default {
  async run({ steps, $ }) {
    const order = steps.trigger.event.body;
    $.send.emit({ order, at: new Date().toISOString() });
    $.export('$summary', \`Order \${order.number} was passed on\`);
  },
};
`;

const SILENT_MS = 300_000;

export const EXAMPLES: readonly Example[] = [
  {
    id: 'order',
    name: 'Check orders',
    text: 'Takes orders over HTTP, and fails when an order has no voucher. One such order is sent at once.',
    workflow: {
      name: 'Check orders',
      steps: [{ namespace: 'check_order', code: CHECK_ORDER }],
      triggers: [{ type: 'http' }],
    },
    event: { number: 1042, customer: 'Ada', lines: [{ price: 12.5, count: 2 }] },
  },
  {
    id: 'stock',
    name: 'Check stock',
    text: 'Checks the stock every minute, and fails when it is low. A watch reports an error, too, if it does not run for five minutes.',
    workflow: {
      name: 'Check stock',
      steps: [{ namespace: 'check_stock', code: CHECK_STOCK }],
      triggers: [{ type: 'schedule', interval_seconds: 60 }],
      settings: { watch: { silent_after_ms: SILENT_MS } },
    },
  },
  {
    id: 'fan-out',
    name: 'Pass orders on',
    text: 'Emits each order that it gets. You then enter the address of a webhook of yours, to which every order is delivered.',
    workflow: {
      name: 'Pass orders on',
      steps: [{ namespace: 'pass_on', code: FAN_OUT }],
      triggers: [{ type: 'http' }],
    },
    event: { number: 1043, customer: 'Grace' },
    needsWebhook: true,
  },
];

/** Sends the example's event to the workflow, from this page. */
export async function sendFirstEvent({ event }: Example, { triggers = [] }: Workflow): Promise<void> {
  const url = triggers.find(({ endpoint_url }) => endpoint_url)?.endpoint_url;
  if (event === undefined || url === undefined) return;
  // The public address may be another origin than the one that this page came from; both lead to the same server.
  const { pathname } = new URL(url);
  await fetch(pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(event),
    credentials: 'omit',
  });
}
