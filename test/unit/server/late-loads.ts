// Uses what is loaded late, first without a free descriptor, then with free ones, and prints what came of both as JSON. To be
// run with a low `ulimit -n`. Arguments: the addresses of a mail server and of a receiver.

import { closeSync, openSync } from 'node:fs';
import { Slots } from '../../../src/engine/capacity/slots.ts';
import { DeliveryLimiter } from '../../../src/engine/deliveries/delivery-limiter.ts';
import { Metrics } from '../../../src/engine/metrics/metrics.ts';
import { matcherOf } from '../../../src/engine/privacy/patterns.ts';
import { mail, mailerFor } from '../mail/servers.ts';
import { deliveryTo, posterFor } from '../webhook/receivers.ts';

const [smtpUrl = '', receiver = ''] = process.argv.slice(2);
await using poster = posterFor();
await using outbox = mailerFor();
await using smtp = mailerFor({ smtpUrl });
const metrics = new Metrics(
  new Slots(new DeliveryLimiter(), { runs: true, deliveries: true }),
  { open: 0, cut: 0 },
  {
    processes: () => 0,
    isBundlingFailing: () => false,
    spans: () => undefined,
    queue: {
      store: { longestWaiting: async () => ({ runMs: null, deliveryMs: null }) },
      clock: { nowMs: () => 0, latestMs: () => 0 },
    },
  },
);

const uses: Readonly<Record<string, () => Promise<string>>> = {
  request: async () => (await poster.post(deliveryTo(receiver))).detail,
  outbox: async () => (await outbox.send(mail())).detail,
  mail: async () => (await smtp.send(mail())).detail,
  metrics: async () => (await metrics.text()).contentType,
  pattern: async () => String((await matcherOf(['a+']))?.next('caat', 0)?.start),
};

async function tryAll(): Promise<Record<string, string>> {
  const made = Object.entries(uses).map(async ([name, use]) => [name, await use().catch(String)] as const);
  return Object.fromEntries(await Promise.all(made));
}

function takeAll(): number[] {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'));
  } catch {
    return taken;
  }
}

const taken = takeAll();
const without = await tryAll();
for (const descriptor of taken) closeSync(descriptor);
process.stdout.write(JSON.stringify({ without, later: await tryAll() }));
