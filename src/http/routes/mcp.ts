// The Model Context Protocol at `/mcp`: tools that do what the key may do, over the interface itself. A tool's calls pass the
// same checks as a caller's own, in this process: key, scopes, quotas, audit log.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../domain/refusal.ts';
import type { McpEndpoint } from '../../mcp/endpoint.ts';
import { bearerOf } from '../access/auth.ts';
import type { App } from '../app-type.ts';
import type { HttpDeps } from '../deps.ts';
import { Type } from '../schema/type.ts';
import { isForeign } from '../session/same-origin.ts';

const ANY_OBJECT = Type.Object({}, { additionalProperties: true });

/** One message of JSON-RPC. What it asks for has a schema of its own, in `tools/list`. */
const MESSAGE = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Integer()])),
    method: Type.Optional(Type.String({ maxLength: 200 })),
    params: Type.Optional(ANY_OBJECT),
    result: Type.Optional(ANY_OBJECT),
    error: Type.Optional(ANY_OBJECT),
  },
  { additionalProperties: false },
);

/** Left out of the OpenAPI document: it is described by its own protocol, and in docs/mcp.md. */
const SCHEMA = { hide: true, access: 'read', audits: 'refusals', body: MESSAGE } as const;

export function addMcpRoute(app: App, { log, urls }: Pick<HttpDeps, 'log' | 'urls'>): void {
  let endpoint: Promise<McpEndpoint> | undefined;
  /** Loads the SDK with the first request: most servers get none, and it takes memory. */
  const load = async (): Promise<McpEndpoint> => {
    const { createMcpEndpoint } = await import('../../mcp/endpoint.ts');
    return createMcpEndpoint((err) => log.error({ err }, 'mcp.failed'));
  };
  app.post('/mcp', { schema: SCHEMA }, async (request, reply) => {
    // A browser's session is for the dashboard: a program shows its key.
    const key = request.session === null ? bearerOf(request.headers.authorization) : undefined;
    if (key === undefined) throw NO_KEY;
    if (isForeign(request.raw, urls.publicUrl())) throw FOREIGN;
    endpoint ??= load();
    const { answer } = await endpoint;
    const asked = new Request(`${urls.publicUrl()}/mcp`, { method: 'POST', headers: headersOf(request) });
    const { scopes } = request.caller;
    return await send(
      reply,
      await answer({ request: asked, body: request.body, key, scopes, fetch: fetchWithin(app, request) }),
    );
  });
}

const NO_KEY = new Refusal('unauthenticated', 'A session does not open /mcp; send "Authorization: Bearer <API key>"');
const FOREIGN = new Refusal('forbidden', 'This request comes from a page of another origin; /mcp is for programs');

/** Returns the protocol's own headers: the key goes no further than this file. */
function headersOf({ headers }: FastifyRequest): Headers {
  const own = Object.entries(headers).filter(([name]) => /^(?:accept|content-type|mcp-.*|last-event-id)$/.test(name));
  return new Headers(own.map(([name, value]) => [name, String(value)] as [string, string]));
}

async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const type = answer.headers.get('content-type');
  reply.code(answer.status);
  if (type !== null) reply.type(type);
  return reply.send(Buffer.from(await answer.arrayBuffer()));
}

/** Calls the interface without a connection, as the caller of `request`. */
function fetchWithin(app: App, request: FastifyRequest): typeof fetch {
  return async (input, init = {}) => {
    const { pathname, search } = new URL(String(input));
    const answer = await app.inject({
      method: (init.method ?? 'GET') as 'GET',
      url: pathname + search,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' ? { payload: init.body } : {}),
      // As the audit log shows it.
      remoteAddress: request.raw.socket.remoteAddress ?? '',
    });
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as [string, string]);
    const isEmpty = answer.statusCode === 204 || answer.statusCode === 304;
    return new Response(isEmpty ? null : new Uint8Array(answer.rawPayload), { status: answer.statusCode, headers });
  };
}
