// The Standard Webhooks vectors, with the shapes that differ between their lists made one.

import published from '../../data/standard-webhooks-vectors.json' with { type: 'json' };

export interface Vector {
  readonly name: string;
  readonly secret?: string | undefined;
  readonly secrets?: readonly string[];
  readonly public_key?: string;
  readonly private_key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly webhook_id?: string | null;
  readonly webhook_timestamp?: number | string | null;
  readonly webhook_signature?: string | null;
  readonly body: string;
  readonly now?: number;
  readonly expect: string;
}

const { sign, accept, reject, derived, construct } = published;
const all: readonly Vector[] = [...sign, ...derived] as readonly Vector[];

/** Those that say what a signature looks like; the ones with a private key need `v1a` too. */
export const SIGNED = all.filter(({ now }) => now === undefined);
export const ACCEPTED = accept as readonly Vector[];
export const REJECTED = [...reject, ...derived.filter(({ expect }) => expect === 'reject')] as readonly Vector[];
export const EMPTY_SECRETS = construct.map(({ secret }) => secret);

export function headersOf(vector: Vector): Record<string, string | undefined> {
  return (
    vector.headers ?? {
      'webhook-id': vector.webhook_id ?? undefined,
      'webhook-timestamp': vector.webhook_timestamp?.toString(),
      'webhook-signature': vector.webhook_signature ?? undefined,
    }
  );
}
