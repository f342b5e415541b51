import type { IncomingMessage } from 'node:http';

const MAPPED_IPV4 = '::ffff:';

/** Returns the address at the other end of the connection: a proxy's, if there is one. */
export function clientIp(req: IncomingMessage): string {
  const address = req.socket.remoteAddress ?? '';
  return address.startsWith(MAPPED_IPV4) ? address.slice(MAPPED_IPV4.length) : address;
}
