// Real receivers on loopback, kind and hostile, and a poster that may reach them.

import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { type Emission, PLAIN_EMISSION } from '../../../src/domain/emission.ts';
import { DEFAULT_WEBHOOK_SETTINGS, type Webhook, type WebhookSettings } from '../../../src/domain/resource.ts';
import type { Clock } from '../../../src/ports.ts';
import { createAddresses } from '../../../src/webhook/address.ts';
import { createGuardedClient, type GuardedClientOptions } from '../../../src/webhook/client.ts';
import { createPoster, type Poster } from '../../../src/webhook/post.ts';
import { newSecret } from '../../../src/webhook/sign.ts';
import type { Certificate } from './certificate.ts';

export const LOOPBACK = ['127.0.0.0/8', '::1/128'];
export const NOW_MS = 1_700_000_000_999;
export const SECRETS = [newSecret(new Uint8Array(32).fill(2)), newSecret(new Uint8Array(32).fill(1))];

export interface Receiver extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Connections accepted so far. */
  readonly connections: () => number;
}

export interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** Answers what `answer` says, and keeps what it received. */
export async function httpReceiver(answer: http.RequestListener = (_, response) => response.end('ok')) {
  const received: Received[] = [];
  const server = http.createServer(async (request, response) => {
    const { method, url, headers, rawHeaders } = request;
    received.push({ method, url, headers, rawHeaders, body: Buffer.concat(await Array.fromAsync(request)) });
    answer(request, response);
  });
  return { ...(await listening(server, 'http')), received };
}

/** Hands over each connection's socket as soon as the whole request head has come. */
export function rawReceiver(onRequest: (socket: net.Socket, nth: number) => void): Promise<Receiver> {
  let requests = 0;
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      if (chunk.includes('\r\n\r\n')) onRequest(socket, ++requests);
    });
  });
  return listening(server, 'http');
}

/** Accepts connections and says nothing, ever. `onData`: called with the first bytes of each. */
export function silentReceiver(scheme: 'http' | 'https', onData = (): void => {}): Promise<Receiver> {
  const server = net.createServer((socket) => socket.on('error', () => {}).once('data', onData));
  return listening(server, scheme);
}

export function tlsReceiver({ key, cert }: Certificate, more: TlsReceiverOptions = {}): Promise<Receiver> {
  const server = https.createServer({ key, cert, ...more.options }, (_, response) => {
    more.onRequest?.();
    response.end('ok');
  });
  return listening(server, 'https');
}

export interface TlsReceiverOptions {
  readonly options?: TlsOptions;
  readonly onRequest?: () => void;
}

/** undici waits for a turn of the event loop before it reuses a connection. */
export const reusable = () => new Promise(setImmediate);

async function listening(server: net.Server, scheme: 'http' | 'https'): Promise<Receiver> {
  const sockets = new Set<net.Socket>();
  let connections = 0;
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}/hook`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export interface PosterSettings extends Partial<GuardedClientOptions> {
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

const CLOCK: Clock = { nowMs: () => NOW_MS };

export function posterFor({ timeoutMs, clock = CLOCK, ...settings }: PosterSettings = {}): Poster & AsyncDisposable {
  const client = createGuardedClient({ addresses: createAddresses({ allowTargets: LOOPBACK }), ...settings });
  const options = { client, clock, version: '1.2.3' };
  const poster = createPoster(timeoutMs === undefined ? options : { ...options, timeoutMs });
  return { ...poster, [Symbol.asyncDispose]: () => poster.close() };
}

export interface DeliveryParts {
  readonly emission?: Partial<Emission>;
  readonly webhook?: Partial<Webhook>;
  readonly settings?: Partial<WebhookSettings>;
  readonly attempt?: number;
  readonly trigger?: ClaimedDelivery['trigger'];
}

export function deliveryTo(url: string, parts: DeliveryParts = {}): ClaimedDelivery {
  const { emission, webhook, settings, attempt = 1, trigger = 'event' } = parts;
  return {
    delivery: 1,
    fence: 1,
    kind: 'webhook',
    subscriptionId: 'sub_1',
    via: 'subscription',
    mailTo: null,
    attempt,
    tries: attempt - 1,
    trigger,
    webhook: { ...WEBHOOK, url, settings: { ...DEFAULT_WEBHOOK_SETTINGS, ...settings }, ...webhook },
    emission: { ...EMISSION, ...emission },
  };
}

const WEBHOOK: Webhook = {
  id: 'wh_1',
  ownerId: 'u_1',
  url: '',
  name: null,
  description: null,
  active: true,
  settings: DEFAULT_WEBHOOK_SETTINGS,
  secrets: SECRETS.map((secret) => ({ secret, publicKey: null, untilMs: null })),
  createdAtMs: 0,
  updatedAtMs: 0,
};

const EMISSION: Emission = {
  ...PLAIN_EMISSION,
  ownerId: 'u_1',
  emitterId: 'hi_1',
  originId: 'hi_1',
  sourceType: 'HTTP',
  entry: 1,
  emitId: 'abcde12345',
  traceId: 'abcde12345',
  body: Buffer.from('{"n": 12345678901234567890, "n": 1e400}'),
};
