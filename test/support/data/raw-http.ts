// Requests that no HTTP client would send: bytes over a socket.

import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends the parts, ends its side, and resolves with all that came back. */
export async function sendRaw(url: string, parts: (string | Uint8Array)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A server that answers early may reset the connection while we still write; what it answered counts.
  socket.on('error', () => {});
  await once(socket, 'connect');
  for (const part of parts) socket.write(part);
  socket.end();
  await once(socket, 'close');
  const text = Buffer.concat(chunks).toString('latin1');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text };
}
