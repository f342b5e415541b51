// For receivers, `errand/webhooks/fetch`: handlers that get a Request (Next.js, Hono, Remix, Deno, Bun, …).

import { createReceiver, type Received, type ReceiverOptions } from './receiver.ts';

/** What is read of a Request. */
export interface FetchRequest {
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
  readonly bodyUsed: boolean;
}

/**
 * Reads the request and says whether it is genuine: a value with the event's bytes, or with the status to answer. Rejects
 * when the body was read before, when it breaks off, and for bad secrets.
 */
export async function verifyRequest(request: FetchRequest, options: ReceiverOptions): Promise<Received> {
  const receiver = createReceiver(options);
  if (request.bodyUsed) {
    throw new TypeError(
      'the body was read before verifyRequest saw it, and the signature covers its bytes as they came: ' +
        'verify first, or pass request.clone() before reading',
    );
  }
  return receiver.receive(request.headers, request.body ?? [], Number(request.headers.get('content-length') ?? 0));
}
