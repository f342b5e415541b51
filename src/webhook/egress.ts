// The egress tunnel for code in a jail that reaches only public addresses (`ERRAND_JAIL_NETWORK=public`).
//
// The jail has no network except its own loopback interface, and one Unix socket: its egress. The protocol is
// HTTP's CONNECT, one connection per request. The target is judged like that of a webhook and connected to here; the
// bytes are forwarded unread. Each process has its own egress, in a folder that no other process sees, which identifies
// the process. Nothing is logged.
//
//   code ──connect──▶ child/confine/egress.ts ──CONNECT name:port──▶ egress ──▶ what the name resolves to, judged
//
// A refusal states its code and reason in headers. (Rejected: requests in absolute form, as HTTP proxies accept them. A refusal
// would look like an answer of the target, and the server would see the request.)

import { chmodSync, chownSync, closeSync, openSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { LIMITS, SECOND_MS } from '../domain/limits.ts';
import { createServer } from '../node-http.ts';
import { ConnectFailed, ConnectTimeout, ForbiddenTarget } from './failure.ts';
import { Lookups, PLACES } from './lookups.ts';
import { everyAddress } from './names.ts';
import { createTunnels, type TunnelOptions, type Tunnels, type TunnelTarget } from './tunnel.ts';

export interface Egress {
  /** Closes the egress and its connections. May be called twice. */
  close(): void;
}

interface EgressOf {
  /** The user of the system that may connect; null: the server's own. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  readonly ownerId: string;
}

/** Opens an egress at a path, for a process of code. */
export type OpenEgress = (path: string, of: EgressOf) => Promise<Egress>;

export type EgressOptions = Omit<TunnelOptions, 'lookup'> & Partial<Pick<TunnelOptions, 'lookup'>>;

/** The headers of a refusal. The reason names no address except the requested one. */
interface EgressRefusal {
  readonly status: 400 | 403 | 502 | 503 | 504;
  readonly code: string;
  readonly reason: string;
}

/** The longest name, a port, and a program's own headers. */
const MAX_HEADER_BYTES = 4096;
const TARGET = /^(?:\[([0-9A-Fa-f:.]{2,45})\]|([\w.-]{1,253})):(\d{1,5})$/;
const MAX_PORT = 65_535;
const REFUSED_AT_ONCE = 16;
/** The system's limit for a socket's path. */
const MAX_PATH_BYTES = 100;
const ESTABLISHED = 'HTTP/1.1 200 OK\r\n\r\n';

export function createEgress({ lookup = everyAddress, ...options }: EgressOptions): OpenEgress {
  // One for all processes, which share the threads.
  const lookups = new Lookups(lookup, { places: PLACES.code });
  return async (path, { user, ownerId }) => {
    const tunnels = createTunnels({ ...options, lookup: (name) => lookups.find(name, ownerId) });
    const egress = new UnixEgress(tunnels);
    await egress.open(path);
    if (user !== null) chownSync(path, user.uid, user.gid);
    return egress;
  };
}

class UnixEgress implements Egress {
  readonly #tunnels: Tunnels;
  readonly #server: Server;
  /** Open connections of callers, including those not answered yet. */
  readonly #callers = new Set<Duplex>();
  /** Its folder, when its path is too long for the system and the socket is addressed relative to the folder. */
  #folder: number | null = null;

  constructor(tunnels: Tunnels) {
    this.#tunnels = tunnels;
    this.#server = createServer(
      { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: LIMITS.connectTimeoutMs, requestTimeout: 10 * SECOND_MS },
      (_request, response) => response.writeHead(405, { allow: 'CONNECT', connection: 'close' }).end(),
    );
    // Silent connections take a descriptor, too.
    this.#server.maxConnections = LIMITS.egressConnections + REFUSED_AT_ONCE;
    this.#server.on('clientError', (_error, socket) => socket.destroy());
    this.#server.on('connect', (request, socket, head) => this.#onConnect(request, socket, head));
  }

  async open(path: string): Promise<void> {
    const isLong = Buffer.byteLength(path) > MAX_PATH_BYTES;
    if (isLong) this.#folder = openSync(dirname(path), 'r');
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(isLong ? `/proc/self/fd/${this.#folder}/${basename(path)}` : path, resolve);
    });
    chmodSync(path, 0o600);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    // Not earlier: closing removes the socket by the path that it was opened with.
    if (this.#folder !== null) closeSync(this.#folder);
    this.#folder = null;
    for (const caller of this.#callers) caller.destroy();
  }

  #onConnect({ url }: IncomingMessage, caller: Duplex, head: Buffer): void {
    caller.on('error', () => caller.destroy());
    const target = readTarget(url ?? '');
    if (target === null) refuse(caller, NO_TARGET);
    else if (this.#callers.size >= LIMITS.egressConnections) refuse(caller, TOO_MANY);
    else this.#open(target, caller, head);
  }

  #open(target: TunnelTarget, caller: Duplex, head: Buffer): void {
    this.#callers.add(caller);
    let upstream: Socket | null = null;
    const opening = new AbortController();
    caller.once('close', () => {
      this.#callers.delete(caller);
      opening.abort();
      upstream?.destroy();
    });
    this.#tunnels.open(target, opening.signal).then(
      (socket) => {
        upstream = socket;
        if (caller.destroyed) socket.destroy();
        else join(caller as Socket, socket, head);
      },
      (error: unknown) => refuse(caller, refusalOf(error)),
    );
  }
}

const NO_TARGET: EgressRefusal = { status: 400, code: 'ERR_INVALID_ARG_VALUE', reason: 'it is not a name and a port' };
const TOO_MANY: EgressRefusal = {
  status: 503,
  code: 'EMFILE',
  reason: `the process has ${LIMITS.egressConnections} connections open, and may have no more`,
};

/** Parses `name:port`; null for any other text. */
function readTarget(text: string): TunnelTarget | null {
  const [, v6, name, digits] = TARGET.exec(text) ?? [];
  const host = v6 ?? name;
  const port = Number(digits);
  return host === undefined || !(port > 0 && port <= MAX_PORT) ? null : { host, port };
}

function refuse(caller: Duplex, { status, code, reason }: EgressRefusal): void {
  if (caller.destroyed) return;
  caller.end(`HTTP/1.1 ${status} Refused\r\nerrand-code: ${code}\r\nerrand-reason: ${reason}\r\n\r\n`);
  caller.resume(); // what it still sends is of no interest, but its end is
}

function refusalOf(error: unknown): EgressRefusal {
  if (error instanceof ForbiddenTarget) return { status: 403, code: 'ERR_TARGET_FORBIDDEN', reason: error.reason };
  if (error instanceof ConnectTimeout) {
    return { status: 504, code: 'ETIMEDOUT', reason: `no connection after ${error.afterMs} ms` };
  }
  const { phase, systemCode } = error instanceof ConnectFailed ? error : { phase: 'connect', systemCode: '' };
  const code = /^E[A-Z_]{2,30}$/.test(systemCode) ? systemCode : 'ECONNRESET';
  return {
    status: 502,
    code,
    reason: phase === 'dns' ? 'the name could not be looked up' : 'no connection came about',
  };
}

/** Forwards bytes and their ends in both directions, until both have ended or no byte has come for long. */
function join(caller: Socket, upstream: Socket, head: Buffer): void {
  caller.write(ESTABLISHED);
  if (head.length > 0) upstream.write(head);
  for (const [from, to] of [
    [caller, upstream],
    [upstream, caller],
  ] as const) {
    from.setTimeout(LIMITS.egressIdleMs, () => from.destroy());
    from.on('error', () => to.destroy());
    from.on('close', () => {
      if (!from.readableEnded) to.destroy();
    });
    from.pipe(to);
  }
}
