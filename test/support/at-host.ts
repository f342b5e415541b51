// A caller of an endpoint by the name of its host, which no test's name server knows: the request goes to the server's own
// address, and says the host as a client that had looked it up.

import { type IncomingHttpHeaders, request } from 'node:http';
import type { Json } from './client.ts';

export interface Told {
  readonly method?: string;
  /** The request's target; what follows the host. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body, when it is JSON. */
  readonly json: Json;
}

/** `serverUrl`: where the server listens. `host`: as the client says it, with its port if it has one. */
export function callAtHost(serverUrl: string, host: string, told: Told = {}): Promise<Heard> {
  const { method = 'POST', path = '/', headers = {}, body } = told;
  const { hostname, port } = new URL(serverUrl);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, agent: false, headers: { ...headers, host } });
    sent.once('error', reject);
    sent.once('response', async (response) => {
      const parts: Buffer[] = [];
      try {
        for await (const part of response) parts.push(part);
      } catch (error) {
        return reject(error);
      }
      const text = Buffer.concat(parts).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
    });
    sent.end(body);
  });
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
