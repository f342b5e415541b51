// errand listen: a webhook's deliveries, sent on to a port of this machine as they are made.
//
// The server is asked for them, so that it needs no way to this machine. The secret of a webhook is not to be had again, so the
// requests are signed here: with the secret that is given, or with one that is made and printed.

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Delivery, textOf } from '../../client/client.ts';
import { utf8 } from '../../domain/bytes.ts';
import { memberOf } from '../../domain/json-member.ts';
import { VERSION } from '../../domain/version.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { findId } from '../shell/find.ts';
import { type Again, outlasting } from '../shell/outlast.ts';
import { printLine, type Style } from '../shell/output.ts';
import { type Connect, type Remote, type ServerOptions, serverCommand } from '../shell/remote.ts';
import { fit, oneLine, timeText } from '../shell/text.ts';
import { describe, reserialised, shownSecret, signV1 } from './signature.ts';

const LOOK_MS = 400;
const TIMEOUT_MS = 30_000;
const SHOWN_ANSWER = 200;
/** What receivers answer that do not take a signature. */
const UNSIGNED: ReadonlySet<number> = new Set([400, 401, 403]);

interface ListenOptions extends ServerOptions {
  readonly to: string;
  readonly secret?: string;
  readonly last?: true;
}

export function addListen(program: Command, connect: Connect): void {
  const listen = serverCommand(
    program,
    'listen <webhook>',
    'send a webhook’s deliveries on to a port of this machine, and explain a signature that is refused; until Ctrl-C',
  )
    .requiredOption('--to <port>', 'a port of this machine, or a whole URL')
    .option('--secret <secret>', 'sign with this secret of the webhook (whsec_…); default: a new one, which is shown')
    .option('--last', 'start with the newest existing delivery');
  withExamples(
    listen,
    'errand listen "Errors to chat" --to 3000',
    'errand listen wh_0Vj3aBc9dEfGhIjK --to http://localhost:3000/hooks --secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  );
  listen.action(async (given: string, { to, secret: known, last, ...options }: ListenOptions) => {
    if (known !== undefined && !SECRET.test(known))
      throw new CliError('--secret is the secret of a webhook: whsec_ and Base64', EXIT.usage);
    const [url, secret] = [addressOf(to), known ?? `whsec_${randomBytes(32).toString('base64')}`];
    const remote = await connect(options);
    const id = await findId(remote.errand, 'webhook', given);
    const { data: webhook } = await remote.errand.getWebhook({ id });
    remote.out.note(`${webhook.name ?? id} of ${remote.url} → ${url}; Ctrl-C ends it`);
    if (known === undefined) remote.out.note(`The secret of these requests: ${secret}`);
    const again = outlasting(remote.out);
    for await (const delivery of deliveriesOf(remote, { id, withLast: last === true, again }))
      await forward(remote, { delivery, url, secret, again });
  });
}

function addressOf(to: string): string {
  const url = /^\d{1,5}$/.test(to) ? `http://127.0.0.1:${to}/` : to;
  if (URL.canParse(url) && /^https?:/.test(url)) return url;
  throw new CliError(`--to: "${to}" is neither a port nor a URL such as http://localhost:3000/hooks`, EXIT.usage);
}

/** Yields deliveries that are made from now on, oldest first. */
async function* deliveriesOf(
  { errand }: Remote,
  { id, withLast, again }: { id: string; withLast: boolean; again: Again },
): AsyncGenerator<Delivery> {
  const [newest] = (await errand.listDeliveries({ webhook_id: id, limit: 1 })).data;
  if (withLast && newest) yield newest;
  let cursor = newest?.id;
  for (;;) {
    const asked = { webhook_id: id, ...(cursor === undefined ? {} : { before: cursor }) };
    const fresh = await again(async () => {
      const found: Delivery[] = [];
      for await (const page of errand.listDeliveries(asked).pages()) found.push(...[...page.data].reverse());
      return found;
    });
    // Without a cursor the list goes down, from the newest.
    if (cursor === undefined) fresh.sort((a, b) => a.created_at_ms - b.created_at_ms || (a.id < b.id ? -1 : 1));
    yield* fresh;
    cursor = fresh.at(-1)?.id ?? cursor;
    await pause(LOOK_MS);
  }
}

/** Any other text would sign requests, too, as no receiver can check them. */
const SECRET = /^whsec_(?=.{8})[A-Za-z0-9+/]+={0,2}$/;

interface Forwarding {
  readonly delivery: Delivery;
  readonly url: string;
  readonly secret: string;
  readonly again: Again;
}

async function forward(remote: Remote, { delivery, url, secret, again }: Forwarding): Promise<void> {
  const { out, isJson } = remote;
  const body = await again(() => bodyOf(remote, delivery.emission_id));
  const [id, timestampS] = [delivery.emission_id, Math.floor(Date.now() / 1000)];
  const headers = {
    'content-type': 'application/json',
    'user-agent': `Errand/${VERSION} (listen)`,
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signV1(secret, { id, timestampS, body }),
    'errand-emitter-id': delivery.emitter_id,
    'errand-event-name': encodeURI(delivery.event_name),
    'errand-attempt': '1',
    'errand-trigger': 'event',
  };
  const begunMs = performance.now();
  const answer = await post(url, headers, body);
  const took = Math.round(performance.now() - begunMs);
  const { status, text } = answer;
  if (isJson) return printLine(out, { delivery: delivery.id, event: id, status, took_ms: took, body: text });
  const style: Style = status !== null && status < 300 ? 'green' : 'red';
  const shown = status === null ? oneLine(text) : `${status} ${fit(oneLine(text), SHOWN_ANSWER)}`.trimEnd();
  await out.write(`${out.style('dim', timeText(Date.now()))} ${delivery.id} ${out.style(style, shown)} ${took} ms\n`);
  if (status === null || !UNSIGNED.has(status)) return;
  const why = refusedSignature({ id, timestampS, body, secret, signature: headers['webhook-signature'] });
  await out.write(why.map((line) => `  ${oneLine(line)}\n`).join(''));
}

/** Returns the bytes of an event: what is parsed and written again has another signature. */
async function bodyOf({ errand }: Remote, id: string): Promise<Uint8Array> {
  const bytes = utf8(textOf(await errand.getEvent({ id, expand: 'event' })));
  const data = memberOf(bytes, 'data');
  const event = data && memberOf(data, 'event');
  if (event) return event;
  throw new CliError(`the event ${id} cannot be read: the answer has no event`, EXIT.notFound);
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: Uint8Array,
): Promise<{ status: number | null; text: string }> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      signal,
      redirect: 'manual',
    });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    const { cause, message } = error as { cause?: { message?: string; code?: string }; message: string };
    return { status: null, text: `${url} cannot be reached: ${cause?.message || cause?.code || message}` };
  }
}

interface Signed {
  readonly id: string;
  readonly timestampS: number;
  readonly body: Uint8Array;
  readonly secret: string;
  readonly signature: string;
}

/** Returns what a receiver that refused a genuine request should have checked. */
export function refusedSignature({ id, timestampS, body, secret, signature }: Signed): string[] {
  const again = reserialised(body);
  const parsed =
    again === null
      ? 'a receiver that parses the body and serialises it again gets the same bytes: that is not the reason'
      : `a receiver that parses the body and serialises it again gets other bytes, from byte ${again.at} on: ${JSON.stringify(again.is)} in place of ${JSON.stringify(again.was)}. Check the bytes as they came`;
  return [
    'The request is genuine. If its signature was refused, compare in the receiver:',
    `signed: ${id}.${timestampS}.<body>, the body being ${describe(body)}`,
    `with the secret ${shownSecret(secret)}, as base64 behind whsec_`,
    `signature: ${signature}`,
    parsed,
  ];
}
