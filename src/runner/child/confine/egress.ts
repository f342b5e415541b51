// The process's end of the way out: connections that code makes go through the server's socket, unless they lead to a
// loopback interface that is this process's own. So it is in a jail with public addresses alone, and wherever code of ours
// has a network (runner/isolation/isolation.ts).
//
// Changed is `connect` of Node's sockets alone, below all that speak HTTP, TLS or anything else, so that code and its
// libraries work as they are, and get errors that say what was refused. Once the server has opened a connection, the
// socket is sent to a port here that passes bytes on. Both ends of that connection are in this process: the address and
// port that it comes from tell which one it is, and what comes from anywhere else is closed. (Rejected: Node's support of
// proxies by environment. Agents of the code's own do not go by it, fetch keeps a refusal's reason to itself, and nothing
// but HTTP gets out.)
//
// Nothing here keeps code in. In a jail there is no network without it; at the level `process` there is one, and code that
// means to can find it: this is for code that its users give addresses to, as ours is.

import { createServer, isIP, type Server, Socket } from 'node:net';
import type { EgressSocket } from './confine.ts';

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/i;
const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 4096;
/** Connections to the port here that are not claimed by then are none of this process's. */
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

/** Resolves when connections can be made. */
export async function routeThroughEgress({ path, hasOwnLoopback }: EgressSocket): Promise<void> {
  const meeting = new Meeting();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => meeting.accept(socket));
  await new Promise<void>((resolve) => server.listen(0, HERE, resolve));
  server.unref(); // it keeps no process alive
  const port = portOf(server);

  function detour(socket: Socket, target: Target): (name: string, options: ConnectOptions, done: LookupDone) => void {
    return (_name, options, done) => {
      const through = ask(path, target, (error) => {
        if (error !== null) return done(error);
        socket.prependOnceListener('connect', () => meeting.expect(socket, through));
        if (options.all === true) done(null, [{ address: HERE, family: 4 }]);
        else done(null, HERE, 4);
      });
      socket.once('close', () => {
        if (!socket.readableEnded) through.destroy();
      });
    };
  }

  Socket.prototype.connect = function connect(this: Socket, ...args: unknown[]): Socket {
    const { options, callback } = normalized(args);
    if (!hasOwnLoopback && options !== null && options.path) return refused(this);
    const target = targetOf(options, hasOwnLoopback);
    if (target === null) {
      // There is no file of names inside, which would have it.
      if (!hasOwnLoopback || options?.host !== 'localhost') return connectPlainly.call(this, ...args);
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

/** The two ends of connections to the port here find each other: by where one comes from, which is where the other is. */
class Meeting {
  readonly #accepted = new Map<string, Unclaimed>();
  readonly #expected = new Map<string, Socket>();

  accept(socket: Socket): void {
    const from = `${socket.remoteAddress}:${socket.remotePort}`;
    const through = this.#expected.get(from);
    if (through !== undefined) {
      this.#expected.delete(from);
      join(socket, through);
      return;
    }
    socket.on('error', () => {});
    this.#drop(from); // what came from there before is gone
    const tooLate = setTimeout(() => this.#drop(from), UNCLAIMED_MS).unref();
    this.#accepted.set(from, { socket, tooLate });
    const [oldest] = this.#accepted.keys();
    if (this.#accepted.size > MAX_UNCLAIMED && oldest !== undefined) this.#drop(oldest);
  }

  /** `through`: where the bytes of this socket go, which has just been connected. */
  expect(socket: Socket, through: Socket): void {
    const from = `${socket.localAddress}:${socket.localPort}`;
    const accepted = this.#accepted.get(from);
    if (accepted === undefined) {
      this.#expected.set(from, through);
      socket.once('close', () => this.#expected.delete(from));
      return;
    }
    this.#accepted.delete(from);
    clearTimeout(accepted.tooLate);
    join(accepted.socket, through);
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

/** As Node reads them: options, or a path, or port and host, or what it has made of either already. */
function normalized(args: readonly unknown[]): { options: ConnectOptions | null; callback: unknown } {
  const [first] = args;
  if (Array.isArray(first)) return { options: first[0] as ConnectOptions, callback: first[1] };
  const callback = args.findLast((arg) => typeof arg === 'function');
  if (typeof first === 'object' && first !== null) return { options: first as ConnectOptions, callback };
  if (typeof first === 'string' && !(Number(first) >= 0)) return { options: { path: first }, callback };
  const host = typeof args[1] === 'string' ? args[1] : undefined;
  return { options: { port: first, host }, callback };
}

/** Null: it stays in this process, or Node is to say what is wrong with it. */
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

/** Asks the server for a connection. `done` is called once; the answer is ready to be read behind its head. */
function ask(path: string, target: Target, done: (error: Error | null) => void): Socket {
  const { host, port } = target;
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const through = connectPlainly.call(new Socket({ allowHalfOpen: true }), { path });
  let head = '';
  let isDone = false;
  const finish = (error: Error | null): void => {
    if (isDone) return;
    isDone = true;
    through.off('readable', onReadable);
    if (error !== null) through.destroy();
    done(error);
  };
  const onReadable = (): void => {
    for (let chunk = through.read() as Buffer | null; chunk !== null; chunk = through.read() as Buffer | null) {
      const before = head.length;
      head += chunk.toString('latin1');
      const end = head.indexOf(HEAD_END);
      if (end < 0 && head.length <= MAX_HEAD_BYTES) continue;
      const isOpen = head.startsWith('HTTP/1.1 200 ');
      const rest = chunk.subarray(end + HEAD_END.length - before);
      if (isOpen && rest.length > 0) through.unshift(rest);
      finish(isOpen ? null : refusal(target, head));
      return;
    }
  };
  through.on('readable', onReadable);
  through.once('connect', () => through.write(`CONNECT ${name}:${port} HTTP/1.1\r\nHost: ${name}\r\n\r\n`));
  through.on('error', (error) => finish(error));
  through.on('close', () =>
    finish(refusal(target, 'errand-code: ECONNRESET\r\nerrand-reason: the egress tunnel was closed')),
  );
  return through;
}

function refusal({ host, port }: Target, head: string): Error {
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
