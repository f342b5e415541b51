// Requests as those who sign them send them, to a source's address.

import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Json } from '../client.ts';

export interface Signing {
  readonly secret: string;
  readonly body: string;
  /** Names the event, where a header does. */
  readonly id: string;
  readonly more?: Readonly<Record<string, string>>;
}

const hex = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');
const nowS = (): number => Math.floor(Date.now() / 1000);

/** The headers of each. */
export const SIGNED = {
  github: ({ secret, body, id, more }: Signing) => ({
    'x-github-event': 'push',
    'x-github-delivery': id,
    'x-hub-signature-256': `sha256=${hex(secret, body)}`,
    ...more,
  }),
  stripe: ({ secret, body, more }: Signing, atS = nowS()) => ({
    'stripe-signature': `t=${atS},v1=${hex(`${secret} of before`, `${atS}.${body}`)},v1=${hex(secret, `${atS}.${body}`)}`,
    ...more,
  }),
  standard: ({ secret, body, id, more }: Signing, atS = nowS()) => ({
    'webhook-id': id,
    'webhook-timestamp': String(atS),
    'webhook-signature': new Webhook(secret).sign(id, new Date(atS * 1000), body),
    ...more,
  }),
};

export async function call(
  source: Json,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | null = null,
): Promise<{ status: number; text: string }> {
  const response = await fetch(source.endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal,
  });
  return { status: response.status, text: await response.text() };
}
