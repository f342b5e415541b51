// Stands between the command line and a server, and breaks connections off.

import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

interface CutOff extends Disposable {
  readonly url: string;
}

/**
 * Passes requests on to the server. The request that `isLast` picks is passed on, too, but it gets no answer, and neither does any later
 * one.
 */
export async function cutOff(to: string, isLast: (method: string, path: string) => boolean): Promise<CutOff> {
  let isCut = false;
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    if (isCut) return void outgoing.destroy();
    isCut = isLast(method, url);
    const isSilent = isCut;
    const passed = request(new URL(url, to), { method, headers }, (answer) => {
      if (isSilent) answer.resume().on('end', () => outgoing.destroy());
      else answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    incoming.pipe(passed);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Returns a condition that is true for the nth workflow that is created. */
export function nthWorkflow(n: number): (method: string, path: string) => boolean {
  let count = 0;
  return (method, path) => method === 'POST' && path === '/v1/workflows' && ++count === n;
}
