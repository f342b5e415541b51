// errand trigger: sends an example event to the address of a workflow or source.

import { createHmac } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { Errand } from '../../client/client.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { findListener } from '../shell/find.ts';
import { printFields, printJson } from '../shell/output.ts';
import { type Connect, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { eventTextOf } from './workflows.ts';

interface Example {
  readonly body: unknown;
  readonly headers: (body: string, secret: string | undefined, nowS: number) => Record<string, string>;
}

const hmac = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');

/** Shaped as these services send them, with made-up values. */
const EXAMPLES: Readonly<Record<string, Example>> = {
  plain: { body: { order: 12345, total: 12.5 }, headers: () => ({}) },
  stripe: {
    body: {
      id: 'evt_00000000000000',
      object: 'event',
      type: 'charge.failed',
      created: 1782000000,
      livemode: false,
      data: { object: { id: 'ch_00000000000000', object: 'charge', amount: 1250, currency: 'eur', status: 'failed' } },
    },
    headers: (body, secret, nowS): Record<string, string> => {
      if (secret === undefined) return {};
      return { 'stripe-signature': `t=${nowS},v1=${hmac(secret, `${nowS}.${body}`)}` };
    },
  },
  github: {
    body: {
      action: 'opened',
      issue: { number: 1, title: 'An example', state: 'open', user: { login: 'octocat' } },
      repository: { full_name: 'octocat/example' },
    },
    headers: (body, secret) => ({
      'x-github-event': 'issues',
      ...(secret === undefined ? {} : { 'x-hub-signature-256': `sha256=${hmac(secret, body)}` }),
    }),
  },
  rss: {
    body: {
      title: 'An example',
      link: 'https://example.com/1',
      guid: 'https://example.com/1',
      pubDate: 'Sun, 21 Jun 2026 00:00:00 GMT',
    },
    headers: () => ({}),
  },
};

interface TriggerOptions extends ServerOptions {
  readonly example: string;
  readonly event?: string;
  readonly data?: string;
  readonly secret?: string;
}

export function addTrigger(program: Command, connect: Connect): void {
  const trigger = serverCommand(program, 'trigger <id>', 'send an example event to the address of a workflow or source')
    .addOption(new Option('--example <kind>', 'which example to send').choices(Object.keys(EXAMPLES)).default('plain'))
    .option('--data <json>', 'send this event instead; or @ and the name of a file, as with curl')
    .option('--event <file>', 'send this event instead: a JSON file; - is standard input')
    .option('--secret <secret>', 'sign the request as Stripe or GitHub would, with this secret');
  withExamples(
    trigger,
    'errand trigger "Charge orders"',
    `errand trigger "Charge orders" --data '{"order": 7}'`,
    'errand trigger "Charge orders" --data @event.json',
    'errand trigger "Stripe events" --example stripe --secret whsec_…',
  );
  trigger.action(async (given: string, { example: kind, event, data, secret, ...options }: TriggerOptions) => {
    const example = EXAMPLES[kind] as Example;
    const body = (await eventTextOf({ event, data })) ?? JSON.stringify(example.body);
    const { errand, out, isJson } = await connect(options);
    const address = await addressOf(errand, given);
    const headers = {
      'content-type': 'application/json',
      ...example.headers(body, secret, Math.floor(Date.now() / 1000)),
    };
    // The address needs no key, and may be of another host.
    const response = await fetch(address, { method: 'POST', headers, body }).catch((error: Error) => {
      throw new CliError(
        `${address} cannot be reached: ${(error.cause as Error | undefined)?.message ?? error.message}`,
        EXIT.unreachable,
      );
    });
    const answer = await response.text();
    if (!response.ok) process.exitCode = EXIT.failed;
    if (isJson) return printJson(out, { address, status: response.status, body: answer });
    await printFields(out, { address, answer: response.status, body: answer });
    if (!response.ok) out.note('See what the code did: errand runs list, errand errors show last');
  });
}

async function addressOf(errand: Errand, given: string): Promise<string> {
  const id = await findListener(errand, given);
  if (id.startsWith('wh_'))
    throw new CliError(`${given} is a webhook: send it a request with "errand webhooks test"`, EXIT.usage);
  const address = id.startsWith('p_')
    ? (await errand.getWorkflow({ id })).data.triggers.find(({ endpoint_url: url }) => url !== undefined)?.endpoint_url
    : (await errand.getSource({ id })).data.endpoint_url;
  if (address !== undefined) return address;
  throw new CliError(`${given} has no address: it has no HTTP trigger; "errand workflows run" runs it`);
}
