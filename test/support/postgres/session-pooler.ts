// A pooler in front of one database, as PgBouncer with `pool_mode = session`: a client has a session for as long as it is connected,
// and what it leaves is discarded. To start a session costs the server 30 to 75 ms of the processor, more than a short test.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { until } from '../wait.ts';

const LOOPBACK = '127.0.0.1';
/** Codes in place of a protocol's version, in the first message of a client. */
const CANCEL = 80_877_102;
const WANTS_ENCRYPTION = [80_877_103, 80_877_104];
const FIRST_HEADER_BYTES = 8;
const HEADER_BYTES = 5;
/** Of the messages, by their first byte. */
const TERMINATE = 'X';
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
const COMPLETE = 'C';
const READY = 'Z';
/** Its counters are told at once, so that deadlocks are counted when a session is back. */
const DISCARD = [SYNC, simple('ROLLBACK'), simple('SELECT pg_stat_force_next_flush()'), simple('DISCARD ALL')];

export class SessionPooler {
  readonly #server: Server;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  #idle: Session[] = [];
  /** Clients that are connected, and sessions that are being discarded. */
  #busy = 0;

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = { host: target.hostname, port: Number(target.port) };
    server.on('connection', (client) => this.#serve(client));
  }

  /** `url`: of the database that all clients ask for, by the same user and without a password. */
  static async start(url: string): Promise<SessionPooler> {
    const server = createServer({ noDelay: true }).listen(0, LOOPBACK);
    await once(server, 'listening');
    server.unref();
    return new SessionPooler(server, new URL(url));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when no client is connected, and all that they left is discarded. */
  async settled(): Promise<void> {
    if (this.#busy > 0) await until('the sessions are given back', () => this.#busy === 0);
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #serve(client: Socket): void {
    this.#keep(client);
    this.#busy++;
    client.once('close', () => this.#busy--);
    let first = Buffer.alloc(0);
    const greet = (chunk: Buffer): void => {
      first = Buffer.concat([first, chunk]);
      if (first.length < FIRST_HEADER_BYTES || first.length < first.readUInt32BE(0)) return;
      const code = first.readUInt32BE(4);
      if (WANTS_ENCRYPTION.includes(code)) {
        first = Buffer.alloc(0);
        client.write('N');
        return;
      }
      client.off('data', greet);
      if (code === CANCEL) this.#connect().end(first);
      else this.#lend(client, first);
    };
    client.on('data', greet);
  }

  #lend(client: Socket, start: Buffer): void {
    const known = this.#idle.pop();
    const session = known ?? this.#start(start);
    const lent: Client = { socket: client, isDone: false };
    session.lendTo(lent, known === undefined ? null : applicationOf(start));
    const frames = new Frames((type, frame) => {
      if (lent.isDone) return;
      if (type === TERMINATE) this.#takeBack(session, lent);
      else session.socket.write(frame);
    });
    client.on('data', (chunk: Buffer) => frames.feed(chunk));
    // Also without a good-bye, in the middle of a transaction: it is rolled back, as the server does behind a closed connection.
    client.once('close', () => this.#takeBack(session, lent));
  }

  #takeBack(session: Session, lent: Client): void {
    if (lent.isDone) return;
    lent.isDone = true;
    lent.socket.end();
    this.#busy++;
    session.discard().then(
      () => {
        this.#busy--;
        this.#idle.push(session);
      },
      () => this.#busy--,
    );
  }

  #start(start: Buffer): Session {
    const session = new Session(this.#connect(), start);
    session.socket.once('close', () => {
      this.#idle = this.#idle.filter((each) => each !== session);
    });
    return session;
  }

  #connect(): Socket {
    const socket = connect({ ...this.#target, noDelay: true });
    this.#keep(socket);
    return socket;
  }

  /** Who is connected keeps the process running, or not, by a socket of their own. */
  #keep(socket: Socket): void {
    socket.unref();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  }
}

interface Client {
  readonly socket: Socket;
  /** It has said good-bye. */
  isDone: boolean;
}

/** One session of the server, and who has it. */
class Session {
  readonly socket: Socket;
  /** All that the server said until it was ready for the first time. */
  readonly #greeting: Buffer[] = [];
  #isGreeted = false;
  #client: Client | null = null;
  /** Called when the statement with this tag has ended: what is said until then is for no client. */
  #awaited: { tag: string; isOver: boolean; resolve: () => void } | null = null;

  constructor(socket: Socket, start: Buffer) {
    this.socket = socket;
    const frames = new Frames((type, frame) => this.#hear(type, frame));
    socket.on('data', (chunk: Buffer) => frames.feed(chunk));
    socket.once('close', () => this.#client?.socket.end());
    socket.write(start);
  }

  /** `application`: what a session that is known is called from now on. */
  lendTo(client: Client, application: string | null): void {
    this.#client = client;
    if (application === null) return;
    const name = application.replaceAll("'", "''");
    this.#say([simple(`SET application_name = '${name}'`)], 'SET').then(
      () => client.socket.write(Buffer.concat(this.#greeting)),
      () => undefined,
    );
  }

  /** Rejects when the session ends instead. */
  async discard(): Promise<void> {
    this.#client = null;
    await this.#say(DISCARD, 'DISCARD ALL');
  }

  #say(messages: readonly Buffer[], tag: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (): void => reject(new Error('the session has ended'));
    this.socket.once('close', fail);
    this.#awaited = { tag, isOver: false, resolve };
    if (this.socket.destroyed) fail();
    this.socket.write(Buffer.concat(messages));
    return promise.finally(() => this.socket.off('close', fail));
  }

  #hear(type: string, frame: Buffer): void {
    if (!this.#isGreeted) {
      this.#greeting.push(frame);
      this.#isGreeted = type === READY;
    }
    const awaited = this.#awaited;
    if (awaited === null) {
      this.#client?.socket.write(frame);
      return;
    }
    if (type === COMPLETE && frame.toString('latin1', HEADER_BYTES, frame.length - 1) === awaited.tag)
      awaited.isOver = true;
    if (type !== READY || !awaited.isOver) return;
    this.#awaited = null;
    awaited.resolve();
  }
}

/** Cuts what a side says into its messages: a byte of type, four of length, and the rest. */
class Frames {
  readonly #onFrame: (type: string, frame: Buffer) => void;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** So many bytes are wanted before there is anything to cut. */
  #wanted = HEADER_BYTES;

  constructor(onFrame: (type: string, frame: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  feed(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#wanted) return;
    let rest = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    for (this.#wanted = wantedBy(rest); rest.length >= this.#wanted; this.#wanted = wantedBy(rest)) {
      this.#onFrame(String.fromCharCode(rest[0] as number), rest.subarray(0, this.#wanted));
      rest = rest.subarray(this.#wanted);
    }
    this.#parts = [rest];
    this.#bytes = rest.length;
  }
}

/** Returns how many bytes a message has that begins here, or its header while that is not whole. */
function wantedBy(rest: Buffer): number {
  return rest.length < HEADER_BYTES ? HEADER_BYTES : 1 + rest.readUInt32BE(1);
}

function simple(sql: string): Buffer {
  const text = Buffer.from(`${sql}\0`);
  const header = Buffer.from([0x51, 0, 0, 0, 0]);
  header.writeUInt32BE(4 + text.length, 1);
  return Buffer.concat([header, text]);
}

/** Returns the name among the parameters of a client's start. */
function applicationOf(start: Buffer): string {
  const parts = start.toString('utf8', FIRST_HEADER_BYTES).split('\0');
  return parts[parts.indexOf('application_name') + 1] ?? '';
}
