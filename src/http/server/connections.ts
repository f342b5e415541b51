// Limits the connections of a server, in all and per address. A connection beyond a limit gets a short refusal and is closed
// before any request is read.

import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../../domain/refusal.ts';
import type { Problem } from '../problem.ts';
import type { HttpBounds } from './bounds.ts';
import { type ClientErrors, rawProblem } from './client-error.ts';

const MAPPED_IPV4 = '::ffff:';
const NETWORK_GROUPS = 4;
const GROUPS = 8;

interface ConnectionDeps {
  readonly bounds: HttpBounds;
  readonly errors: Pick<ClientErrors, 'isIdle'>;
  /** Returns the answer that refuses, and counts it. */
  readonly problemTo: (refusal: Refusal) => Problem;
}

export function boundConnections(server: Server, { bounds, errors, problemTo }: ConnectionDeps): void {
  const counts = new Map<string, number>();
  let all = 0;
  // Before Node's own listener, which starts to read.
  server.prependListener('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const count = (counts.get(network) ?? 0) + 1;
    const isTooMany = !isOfMachine(network) && count > bounds.maxConnectionsPerAddress;
    if (all >= bounds.maxConnections || isTooMany) return turnAway(socket, problemTo(TOO_MANY));
    all++;
    counts.set(network, count);
    socket.once('close', () => {
      all--;
      const left = (counts.get(network) ?? 0) - 1;
      if (left > 0) counts.set(network, left);
      else counts.delete(network);
    });
  });
  // With a listener, Node closes nothing by itself: a caller may wait for its answer without sending anything.
  server.setTimeout(bounds.unreadAnswerMs, (socket: Socket) => {
    if (socket.writableLength > 0 || errors.isIdle(socket)) socket.destroy();
  });
}

const TOO_MANY = new Refusal('unavailable', 'There are too many connections; close some, or try again later');

function turnAway(socket: Socket, problem: Problem): void {
  socket.on('error', () => {});
  socket.end(rawProblem(problem));
  socket.destroySoon();
}

/** Returns whether nothing more can be answered: the connection was refused, or an earlier answer was its last. */
export function isClosing(req: IncomingMessage): boolean {
  return req.socket.writableEnded;
}

/** Returns what one caller can have: an IPv4 address, or an IPv6 network of 64 bits. */
export function networkOf(address: string): string {
  if (address.startsWith(MAPPED_IPV4) && address.includes('.')) return address.slice(MAPPED_IPV4.length);
  if (!address.includes(':') || address === '::1') return address;
  const [head = '', tail] = (address.split('%', 1)[0] as string).split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, GROUPS - first.length - last.length) }, () => '0');
  return `${[...first, ...zeros, ...last].slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

function isOfMachine(network: string): boolean {
  return network === '::1' || network.startsWith('127.') || network === '';
}
