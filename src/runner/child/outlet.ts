// The jail's end of the way out (`ERRAND_JAIL_NETWORK=public`): connections that code makes go through the server's socket,
// unless they lead to this process's own loopback interface.
//
// Changed is `connect` of Node's sockets alone, below all that speak HTTP, TLS or anything else, so that code and its
// libraries work as they are, and get errors that say what was refused. Once the server has opened a connection, the
// socket is sent to a port here that passes bytes on; the address that it is sent to, of the 16 million of this interface,
// tells which connection is meant. (Rejected: Node's support of proxies by environment. Agents of the code's own do not
// go by it, fetch keeps a refusal's reason to itself, and nothing but HTTP gets out.)
//
// Nothing here keeps code in: without it, there is no network at all.

import { createConnection, createServer, isIP, type Server, Socket } from 'node:net';

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/i;
const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 4096;
const LAST_TICKET = 2 ** 22;

interface Target {
  readonly host: string;
  readonly port: number;
}

type ConnectOptions = Readonly<Record<string, unknown>>;
type LookupDone = (error: Error | null, address?: unknown, family?: number) => void;

const connectPlainly = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket;

/** `path`: the server's socket. Resolves when connections can be made. */
export async function openOutlet(path: string): Promise<void> {
  const opened = new Map<string, Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const address = socket.localAddress ?? '';
    const through = opened.get(address);
    opened.delete(address);
    if (through === undefined) socket.destroy();
    else join(socket, through);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const port = portOf(server);
  let tickets = 0;

  function detour(socket: Socket, target: Target): (name: string, options: ConnectOptions, done: LookupDone) => void {
    return (_name, options, done) => {
      tickets = (tickets % LAST_TICKET) + 1;
      const address = `127.${64 + (tickets >> 16)}.${(tickets >> 8) & 255}.${tickets & 255}`;
      const through = ask(path, target, (error) => {
        if (error !== null) return done(error);
        opened.set(address, through);
        if (options.all === true) done(null, [{ address, family: 4 }]);
        else done(null, address, 4);
      });
      socket.once('close', () => {
        opened.delete(address);
        if (!socket.readableEnded) through.destroy();
      });
    };
  }

  Socket.prototype.connect = function connect(this: Socket, ...args: unknown[]): Socket {
    const { options, callback } = normalized(args);
    const target = targetOf(options);
    if (target === null) {
      // There is no file of names inside, which would have it.
      if (options?.host !== 'localhost') return connectPlainly.call(this, ...args);
      return connectPlainly.call(this, { ...options, host: '127.0.0.1' }, callback);
    }
    const changed = {
      ...options,
      host: 'outlet',
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

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** As Node reads them: options, or port and host, or what it has made of either already. */
function normalized(args: readonly unknown[]): { options: ConnectOptions | null; callback: unknown } {
  const [first] = args;
  if (Array.isArray(first)) return { options: first[0] as ConnectOptions, callback: first[1] };
  const callback = args.findLast((arg) => typeof arg === 'function');
  if (typeof first === 'object' && first !== null) return { options: first as ConnectOptions, callback };
  const isPort = typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first));
  const host = typeof args[1] === 'string' ? args[1] : undefined;
  return { options: isPort ? { port: first, host } : null, callback };
}

/** Null: it stays in this process, or Node is to say what is wrong with it. */
function targetOf(options: ConnectOptions | null): Target | null {
  const port = Number(options?.port);
  const host = options?.host ?? 'localhost';
  if (options === null || options.path || !Number.isInteger(port) || port < 1 || port > 65_535) return null;
  return typeof host !== 'string' || host === '' || LOOPBACK.test(host) ? null : { host, port };
}

/** Asks the server for a connection. `done` is called once; the answer is ready to be read behind its head. */
function ask(path: string, target: Target, done: (error: Error | null) => void): Socket {
  const { host, port } = target;
  const name = isIP(host) === 6 ? `[${host}]` : host;
  const through = createConnection({ path, allowHalfOpen: true });
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
    finish(refusal(target, 'errand-code: ECONNRESET\r\nerrand-reason: the way out was closed')),
  );
  return through;
}

function refusal({ host, port }: Target, head: string): Error {
  const said = (name: string): string | undefined => new RegExp(`^errand-${name}: (.*)$`, 'im').exec(head)?.[1]?.trim();
  const code = said('code') ?? 'ECONNRESET';
  const reason = said('reason') ?? 'the way out was closed';
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
