// What the demo has instead of the outside world: an archive for errors, and the receiver of two webhooks.

import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

async function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function bodyOf(request: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

export interface Archive extends Listening {
  /** Path → the text that was stored there. */
  readonly kept: ReadonlyMap<string, string>;
}

/** Keeps what is PUT, under its path. */
export async function startArchive(): Promise<Archive> {
  const kept = new Map<string, string>();
  const listening = await listen(async (request, response) => {
    kept.set(request.url ?? '', (await bodyOf(request)).toString());
    response.writeHead(204).end();
  });
  return { ...listening, kept };
}

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver extends Listening {
  /** Genuine requests. */
  readonly received: readonly Received[];
  /** A path is served once its secret is known. */
  trust(path: string, secret: string): void;
}

/** Answers 204 to what verifies with the secret of its path, and 401 to the rest. */
export async function startReceiver(): Promise<Receiver> {
  const secrets = new Map<string, string>();
  const received: Received[] = [];
  const listening = await listen(async (request, response) => {
    const body = (await bodyOf(request)).toString();
    const isGenuine = isSigned(secrets.get(request.url ?? ''), { headers: request.headers, body });
    if (isGenuine) received.push({ headers: request.headers, body });
    response.writeHead(isGenuine ? 204 : 401).end();
  });
  return { ...listening, received, trust: (path, secret) => void secrets.set(path, secret) };
}

/** Judged by a library that knows nothing of Errand. */
export function isSigned(secret: string | undefined, { headers, body }: Received): boolean {
  if (secret === undefined) return false;
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
