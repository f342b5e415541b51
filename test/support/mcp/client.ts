// A client of the Model Context Protocol, as assistants have it: the SDK's own.

import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import type { Json } from '../client.ts';

export interface McpClient extends AsyncDisposable {
  readonly client: Client;
  /** Asserts that the tool succeeded, and that its text says the same as its structured content, which it returns. */
  call(name: string, args?: object): Promise<Json>;
  /** Asserts that the tool refused, and returns what it says. */
  refused(name: string, args?: object): Promise<string>;
}

/** `era`: the protocol of 2025 with its handshake, or the later one without. */
export async function connectMcp(transport: Transport, era: 'legacy' | 'auto' = 'auto'): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } });
  await client.connect(transport);
  const run = (name: string, args: object) =>
    client.callTool({ name, arguments: args as Record<string, unknown> }) as Promise<Json>;
  return {
    client,
    call: async (name, args = {}) => {
      const result = await run(name, args);
      assert.ok(!result.isError, `${name}: ${result.content?.[0]?.text}`);
      assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
      return result.structuredContent;
    },
    refused: async (name, args = {}) => {
      const result = await run(name, args);
      assert.equal(result.isError, true, `${name} did not refuse: ${result.content?.[0]?.text}`);
      return result.content[0].text;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export function overHttp(url: string, key: string): Transport {
  return new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
}
