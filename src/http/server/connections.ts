// How many connections a server has, in all and from one address. What is too much is told so in a few bytes and closed at
// once: no request of it is read.

import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../../domain/fault.ts';
import type { Problem } from '../problem.ts';
import type { HttpBounds } from './bounds.ts';
import { type ClientErrors, rawProblem } from './client-error.ts';

const MAPPED_IPV4 = '::ffff:';
const NETWORK_GROUPS = 4;
const GROUPS = 8;

interface Around {
  readonly bounds: HttpBounds;
  readonly errors: Pick<ClientErrors, 'isIdle'>;
  /** The answer that refuses, counted. */
  readonly problemTo: (refusal: Refusal) => Problem;
}

export function boundConnections(server: Server, { bounds, errors, problemTo }: Around): void {
  const counts = new Map<string, number>();
  let all = 0;
  // Before Node's own listener, which would begin to read.
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
  // Where there is a listener, Node closes nothing by itself: a caller may wait for its answer in silence.
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

/** Whether nothing can be answered any more: the connection was turned away, or an answer before this request was its last. */
export function isClosing(req: IncomingMessage): boolean {
  return req.socket.writableEnded;
}

/** What one caller has at its disposal: an IPv4 address, or an IPv6 network of 64 bits. */
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
