// The process's end of the egress tunnel: connections of code go through the server's socket, unless they lead to a
// loopback interface of this process's own. This applies in a jail that reaches only public addresses, and to Errand's
// own components wherever they have a network (runner/isolation/isolation.ts).
//
// Only `connect` of Node's sockets is replaced, below HTTP, TLS and everything else, so that code and its libraries
// work unchanged and get errors that say what was refused. Once the server has opened a connection, the socket is
// connected to a local port that passes bytes on. Both ends of that local connection are in this process: the remote
// address and port identify it, and connections from anywhere else are closed. (Rejected: Node's proxy support by
// environment. The code's own agents ignore it, fetch hides the reason of a tunnelError, and only HTTP gets out.)
//
// This is no barrier. A jail has no network without the tunnel; at the level `process` the network is there, and code
// that tries can reach it directly. There the tunnel protects code whose addresses come from its users, as with
// Errand's own components.

import { createServer, isIP, type Server, Socket } from 'node:net';
import { domainToASCII } from 'node:url';
import type { EgressSocket } from './confine.ts';

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/i;
const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 4096;
/** What the server can read: any other text would end the request without an answer. */
const READABLE_HOST = /^[\w.:%-]{1,253}$/;
const OTHER_LETTERS = /^[\w.\u0080-\uffff-]{1,253}$/;
const NO_HOST = 'errand-code: ERR_INVALID_ARG_VALUE\r\nerrand-reason: it is not a name';
const CLOSED = 'errand-code: ECONNRESET\r\nerrand-reason: the egress tunnel was closed';
/** Connections to the local port that are not claimed by then are not this process's. */
const UNCLAIMED_MS = 5000;
const MAX_UNCLAIMED = 256;
const HERE = '127.0.0.1';
const MAX_PORT = 65_535;

interface Target {
  readonly host: string;
  readonly port: number;
}

type ConnectOptions = Readonly<Record<string, unknown>>;
type LookupDone = (error: Error | null, address?: unknown, family?: number) => void;

const connectPlainly = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket;

/** Replaces `connect`. Resolves when connections can be made. */
export async function routeThroughEgress({ path, hasOwnLoopback }: EgressSocket): Promise<void> {
  const connections = new LocalConnections();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => connections.accept(socket));
  await new Promise<void>((resolve) => server.listen(0, HERE, resolve));
  server.unref(); // it keeps no process alive
  const port = portOf(server);

  function detour(socket: Socket, target: Target): (name: string, options: ConnectOptions, done: LookupDone) => void {
    return (_name, options, done) => {
      const tunnel = requestTunnel(path, target, (error) => {
        if (error !== null) return done(error);
        socket.prependOnceListener('connect', () => connections.expect(socket, tunnel));
        if (options.all === true) done(null, [{ address: HERE, family: 4 }]);
        else done(null, HERE, 4);
      });
      socket.once('close', () => {
        if (!socket.readableEnded) tunnel.destroy();
      });
    };
  }

  Socket.prototype.connect = function connect(this: Socket, ...args: unknown[]): Socket {
    const { options, callback } = normalized(args);
    if (!hasOwnLoopback && options !== null && options.path) return refused(this);
    const target = targetOf(options, hasOwnLoopback);
    if (target === null) {
      // The jail has no hosts file that would resolve it.
      if (!hasOwnLoopback || !isLocalhost(options?.host)) return connectPlainly.call(this, ...args);
      return connectPlainly.call(this, { ...options, host: '127.0.0.1' }, callback);
    }
    const changed = {
      ...options,
      host: 'egress',
      port,
      lookup: detour(this, target),
      family: 4,
      autoSelectFamily: false,
      localAddress: undefined,
      localPort: undefined,
    };
    return connectPlainly.call(this, changed, callback);
  } as Socket['connect'];
}

interface Unclaimed {
  readonly socket: Socket;
  readonly tooLate: NodeJS.Timeout;
}

/**
 * Matches the two ends of each connection to the local port, by its remote address, which is the other end's local one.
 */
class LocalConnections {
  readonly #accepted = new Map<string, Unclaimed>();
  readonly #expected = new Map<string, Socket>();

  accept(socket: Socket): void {
    const from = `${socket.remoteAddress}:${socket.remotePort}`;
    const tunnel = this.#expected.get(from);
    if (tunnel !== undefined) {
      this.#expected.delete(from);
      join(socket, tunnel);
      return;
    }
    socket.on('error', () => {});
    this.#drop(from); // an earlier connection from there is gone
    const tooLate = setTimeout(() => this.#drop(from), UNCLAIMED_MS).unref();
    this.#accepted.set(from, { socket, tooLate });
    const [oldest] = this.#accepted.keys();
    if (this.#accepted.size > MAX_UNCLAIMED && oldest !== undefined) this.#drop(oldest);
  }

  /** Expects the other end of a socket that has just connected. `tunnel`: where its bytes go. */
  expect(socket: Socket, tunnel: Socket): void {
    const from = `${socket.localAddress}:${socket.localPort}`;
    const accepted = this.#accepted.get(from);
    if (accepted === undefined) {
      this.#expected.set(from, tunnel);
      socket.once('close', () => this.#expected.delete(from));
      return;
    }
    this.#accepted.delete(from);
    clearTimeout(accepted.tooLate);
    join(accepted.socket, tunnel);
  }

  #drop(from: string): void {
    const unclaimed = this.#accepted.get(from);
    this.#accepted.delete(from);
    clearTimeout(unclaimed?.tooLate);
    unclaimed?.socket.destroy();
  }
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Normalizes the arguments as Node does: options, or a path, or port and host, or the result of normalizing either. */
function normalized(args: readonly unknown[]): { options: ConnectOptions | null; callback: unknown } {
  const [first] = args;
  if (Array.isArray(first)) return { options: first[0] as ConnectOptions, callback: first[1] };
  const callback = args.findLast((arg) => typeof arg === 'function');
  if (typeof first === 'object' && first !== null) return { options: first as ConnectOptions, callback };
  if (typeof first === 'string' && !(Number(first) >= 0)) return { options: { path: first }, callback };
  const host = typeof args[1] === 'string' ? args[1] : undefined;
  return { options: { port: first, host }, callback };
}

/** Returns whether it is the name `localhost`; the case of a name is of no account. */
function isLocalhost(host: unknown): boolean {
  return typeof host === 'string' && host.toLowerCase() === 'localhost';
}

/** Returns where the connection leads; null: it stays in this process, or Node should report what is wrong. */
function targetOf(options: ConnectOptions | null, hasOwnLoopback: boolean): Target | null {
  const port = Number(options?.port);
  if (options === null || options.path || !Number.isInteger(port) || port < 0 || port > MAX_PORT) return null;
  const host = typeof options.host === 'string' && options.host !== '' ? options.host : 'localhost';
  return hasOwnLoopback && (port === 0 || LOOPBACK.test(host)) ? null : { host, port };
}

function refused(socket: Socket): Socket {
  const error = new Error('Connecting to a Unix socket was refused: the server opens none (ERR_TARGET_FORBIDDEN)');
  process.nextTick(() => socket.destroy(Object.assign(error, { code: 'ERR_TARGET_FORBIDDEN', syscall: 'connect' })));
  return socket;
}

/** Asks the server for a connection. Calls `done` once; the answer behind the head is then ready to be read. */
function requestTunnel(path: string, target: Target, done: (error: Error | null) => void): Socket {
  const { host, port } = target;
  const tunnel = new Socket({ allowHalfOpen: true });
  let head = '';
  let isDone = false;
  const finish = (error: Error | null): void => {
    if (isDone) return;
    isDone = true;
    tunnel.off('readable', onReadable);
    if (error !== null) tunnel.destroy();
    done(error);
  };
  const onReadable = (): void => {
    for (let chunk = tunnel.read() as Buffer | null; chunk !== null; chunk = tunnel.read() as Buffer | null) {
      const before = head.length;
      head += chunk.toString('latin1');
      const end = head.indexOf(HEAD_END);
      if (end < 0 && head.length <= MAX_HEAD_BYTES) continue;
      const isOpen = head.startsWith('HTTP/1.1 200 ');
      const rest = chunk.subarray(end + HEAD_END.length - before);
      if (isOpen && rest.length > 0) tunnel.unshift(rest);
      finish(isOpen ? null : tunnelError(target, head));
      return;
    }
  };
  tunnel.on('readable', onReadable);
  tunnel.on('error', (error) => finish(error));
  // Not `close` alone: the tunnel may stay half open.
  for (const event of ['end', 'close']) tunnel.on(event, () => finish(tunnelError(target, CLOSED)));
  const name = nameOf(host);
  if (name === null) process.nextTick(finish, tunnelError(target, NO_HOST));
  else {
    tunnel.once('connect', () => tunnel.write(`CONNECT ${name}:${port} HTTP/1.1\r\nHost: ${name}\r\n\r\n`));
    connectPlainly.call(tunnel, { path });
  }
  return tunnel;
}

/** Returns the host for the request; null: it can be none. Names are spelled in ASCII, as Node's own lookup does it. */
function nameOf(host: string): string | null {
  const ascii = OTHER_LETTERS.test(host) && !READABLE_HOST.test(host) ? domainToASCII(host) : host;
  if (!READABLE_HOST.test(ascii)) return null;
  return isIP(ascii) === 6 ? `[${ascii}]` : ascii;
}

function tunnelError({ host, port }: Target, head: string): Error {
  const said = (name: string): string | undefined => new RegExp(`^errand-${name}: (.*)$`, 'im').exec(head)?.[1]?.trim();
  const code = said('code') ?? 'ECONNRESET';
  const reason = said('reason') ?? 'the egress tunnel was closed';
  const verb = code === 'ERR_TARGET_FORBIDDEN' ? 'was refused' : 'failed';
  const error = new Error(`Connecting to ${host}:${port} ${verb}: ${reason} (${code})`);
  return Object.assign(error, { code, syscall: 'connect', hostname: host, port });
}

function join(inner: Socket, outer: Socket): void {
  for (const [from, to] of [
    [inner, outer],
    [outer, inner],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => {
      if (!from.readableEnded) to.resetAndDestroy();
    });
    from.pipe(to);
  }
}
