// MCP over HTTP (streamable HTTP): each request is answered by a server of its own, with the tools of its key. There are no
// sessions and no streams: a request holds nothing beyond its answer.

import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { Errand } from '../client/client.ts';
import { createMcpServer } from './server.ts';

export interface McpCall {
  readonly request: Request;
  /** JSON, parsed. */
  readonly body: unknown;
  readonly key: string;
  readonly scopes: readonly string[];
  /** Reaches the interface. */
  readonly fetch: typeof fetch;
}

export interface McpEndpoint {
  answer(call: McpCall): Promise<Response>;
}

/** An origin is needed for addresses; nothing is sent there. */
const WITHIN = 'http://errand.invalid';

export function createMcpEndpoint(onFault: (error: unknown) => void): McpEndpoint {
  return {
    answer: async ({ request, body, key, scopes, fetch }) => {
      const errand = new Errand({ url: WITHIN, key, fetch, retries: 0 });
      const make = (): McpServer => createMcpServer({ errand, scopes, onFault });
      // Streams of subscriptions would outlive their requests.
      const handler = createMcpHandler(make, { maxSubscriptions: 0, keepAliveMs: 0, onerror: () => undefined });
      const answer = await handler.fetch(request, { parsedBody: body });
      try {
        // What is left of it ends with it.
        return new Response(await answer.text(), answer);
      } finally {
        await handler.close();
      }
    },
  };
}
