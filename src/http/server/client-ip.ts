import type { IncomingMessage } from 'node:http';

const MAPPED_IPV4 = '::ffff:';

/** Returns the address at the other end of the connection: a proxy's, if there is one. */
export function clientIp(req: IncomingMessage): string {
  const address = req.socket.remoteAddress ?? '';
  return address.startsWith(MAPPED_IPV4) ? address.slice(MAPPED_IPV4.length) : address;
}

/** Returns whether the connection comes from this machine by its loopback address: from a proxy there, too. */
export function isFromLoopback(req: IncomingMessage): boolean {
  const address = clientIp(req);
  return address === '::1' || address.startsWith('127.');
}
