// What the receivers' tests have in common: deliveries as the service makes them, and a server to receive them.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Attempt } from '../../../src/domain/delivery/delivery.ts';
import { newSigningKey } from '../../../src/webhook/sign.ts';
import { type DeliveryParts, deliveryTo, httpReceiver, NOW_MS, posterFor, SECRETS } from '../webhook/receivers.ts';

export const [SECRET = ''] = SECRETS;
export const OPTIONS = { secrets: SECRET, nowMs: () => NOW_MS };
/** Verifies nowhere once it is parsed and written again. */
export const HARD = Buffer.from('{"n": 12345678901234567890, "n": 1e400, "s": "\\u0000 é"}');

const { secret, publicKey } = newSigningKey(new Uint8Array(32).fill(4));
export const PUBLIC_KEY = publicKey;
/** A webhook that signs with ed25519 alone. */
export const ASYMMETRIC: DeliveryParts = {
  settings: { signature: ['v1a'] },
  webhook: { secrets: [{ secret, publicKey, untilMs: null }] },
};

/** Signed by somebody else. */
export const FORGED: DeliveryParts = {
  webhook: { secrets: [{ secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`, publicKey: null, untilMs: null }] },
};

/** One real delivery. */
export async function deliver(url: string, parts: DeliveryParts = {}): Promise<Attempt> {
  await using poster = posterFor();
  return await poster.post(deliveryTo(url, { ...parts, emission: { body: HARD, ...parts.emission } }));
}

/** A delivery as a fetch handler gets it; each call makes a new Request of the same bytes. */
export async function requestsOf(parts: DeliveryParts = {}): Promise<() => Request> {
  await using receiver = await httpReceiver();
  await deliver(receiver.url, parts);
  const [got] = receiver.received;
  if (!got) throw new Error('nothing was delivered');
  const headers = Object.entries(got.headers).filter(([name]) => name.startsWith('webhook-')) as [string, string][];
  return () => new Request(receiver.url, { method: 'POST', headers, body: new Uint8Array(got.body) });
}

export async function serve(listener: RequestListener) {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
