// The client for every outgoing request whose target a user chooses. It connects only to judged addresses:
//
// 1. The socket uses this client's lookup: it resolves once, judges every address, and returns only allowed ones.
//    No second resolution could return another address.
// 2. Node makes no lookup for a literal, so literals are judged before connecting.
// 3. The connected address is judged again, before a byte is written.
//
// Connections are kept alive and pooled per origin; a reused connection stays at its judged address. Their number per origin is
// not limited: webhooks can share an origin, and requests to one that hangs would keep those to another waiting until their
// time is up. The engine limits how many requests are made at a time (engine/deliveries/delivery-limiter.ts).

import { AsyncLocalStorage } from 'node:async_hooks';
import { isIP, type Socket } from 'node:net';
import type { buildConnector, Client, Dispatcher, Pool } from 'undici';
import { LIMITS, SECOND_MS } from '../domain/limits.ts';
import { limitTime } from '../time-limit.ts';
import { type Addresses, type Judgement, portOf } from './address.ts';
import { ConnectFailed, type ConnectPhase, ConnectTimeout, ForbiddenTarget } from './failure.ts';
import { guardedLookup } from './lookup.ts';
import { Lookups, PLACES } from './lookups.ts';
import { everyAddress, type ResolveName } from './names.ts';
import { watchReads } from './reads.ts';
import { undici } from './undici.ts';

/** The state of one connection, for the sender of requests over it. */
export interface Wire {
  /** No request was sent over the connection yet, so its connect times belong to the next request. */
  fresh: boolean;
  /** Null when the host is a literal. */
  dnsMs: number | null;
  /** TCP and TLS. */
  connectMs: number | null;
  /** Whose request is sent, or has the connection opened. */
  ownerId: string;
  /** Called before each request. */
  expectResponse: () => void;
}

/** A request handler that needs to know its connection. */
export interface WireAware {
  readonly ownerId: string;
  onWire(wire: Wire): void;
}

export interface GuardedClient {
  readonly addresses: Addresses;
  /** Loads undici the first time that it is read, for some 50 ms. Throws when no file can be opened; the next time it is tried again. */
  readonly dispatcher: Dispatcher;
  /** Loads undici soon. When that fails, the first request tries again. */
  preload(): void;
  /** Closes every connection, and fails the requests under way. May be called twice. */
  close(): Promise<void>;
}

export interface GuardedClientOptions {
  readonly addresses: Addresses;
  readonly lookup?: ResolveName;
  readonly connectTimeoutMs?: number;
  /** Certificates to trust instead of Node's own, as PEM. */
  readonly ca?: string;
}

// An idle receiver may not keep a socket open for longer, whatever its Keep-Alive header says.
const KEEP_ALIVE_MAX_MS = 60 * SECOND_MS;
// Node's 250 ms per address make distant receivers with several addresses unreachable.
const ATTEMPT_PER_ADDRESS_MS = 2 * SECOND_MS;

export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  let opened: Dispatcher | null = null;
  let isClosed = false;
  const open = (): Dispatcher => {
    const dispatcher = openDispatcher(options);
    if (isClosed) void dispatcher.destroy();
    return dispatcher;
  };
  return {
    addresses: options.addresses,
    // With the first request: a start does not pay for undici.
    get dispatcher() {
      opened ??= open();
      return opened;
    },
    preload() {
      setImmediate(() => {
        try {
          opened ??= open();
        } catch {
          // Told by the request that needs it.
        }
      });
    },
    async close() {
      isClosed = true;
      await opened?.destroy();
    },
  };
}

function openDispatcher(options: GuardedClientOptions): Dispatcher {
  const { Agent, Client, Pool } = undici();
  const lookups = new Lookups(options.lookup ?? everyAddress, { places: PLACES.deliveries });
  const lookup: ResolveName = (name) => lookups.find(name, connectingFor.getStore() ?? '');
  const poolOf = (origin: string | URL): Pool => {
    const connect = createConnector({ ...options, lookup, port: portOf(new URL(origin)) });
    const openClient = (of: URL) => {
      const wire: Wire = { fresh: false, dnsMs: null, connectMs: null, ownerId: '', expectResponse: () => {} };
      return watched(
        new Client(of, { ...CLIENT_OPTIONS, connect: (target, done) => connect(target, wire, done) }),
        wire,
      );
    };
    return new Pool(origin, { ...CLIENT_OPTIONS, connections: null, factory: openClient });
  };
  return new Agent({ factory: poolOf });
}

// HTTP/1.1 only: with HTTP/2 one connection carries the requests of several deliveries, and one aborted or oversized
// response, or one GOAWAY, affects all of them.
const CLIENT_OPTIONS = {
  allowH2: false,
  pipelining: 1,
  maxHeaderSize: LIMITS.responseHeaderBytes,
  keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
} as const;

/** Reports the connection of each request: the pool calls `dispatch` on a connection of its choice. */
function watched(client: Client, wire: Wire): Client {
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (options, handler) => {
    wire.expectResponse();
    const { ownerId = '' } = handler as Partial<WireAware>;
    wire.ownerId = ownerId;
    (handler as Partial<WireAware>).onWire?.(wire);
    return dispatch(options, handler);
  };
  return client;
}

/** The owner whose connection is opened: the lookup gets nothing but the name. */
const connectingFor = new AsyncLocalStorage<string>();

type Connect = (target: buildConnector.Options, wire: Wire, done: buildConnector.Callback) => void;
interface JudgedConnect {
  readonly judge: (ip: string) => Judgement;
  readonly done: buildConnector.Callback;
}
// undici's types omit that a connector returns the socket that it opens.
type Opening = (target: buildConnector.Options, done: (error: Error | null, socket: Socket | null) => void) => Socket;

interface ConnectorOptions extends GuardedClientOptions {
  readonly lookup: ResolveName;
  readonly port: number;
}

function createConnector(options: ConnectorOptions): Connect {
  const { addresses, port, connectTimeoutMs = LIMITS.connectTimeoutMs, ca } = options;
  const open = undici().buildConnector({
    lookup: guardedLookup(options),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_PER_ADDRESS_MS,
    allowH2: false,
    // The timeout here is exact and knows the phase; undici's ticks in half seconds.
    timeout: 0,
    ...(ca === undefined ? {} : { ca }),
  } as buildConnector.BuildOptions) as unknown as Opening;

  function connectTo(target: buildConnector.Options, wire: Wire, { judge, done }: JudgedConnect): void {
    const startedMs = performance.now();
    const isLiteral = isIP(target.hostname) !== 0;
    const judged = isLiteral ? judge(target.hostname) : { ok: true as const };
    if (!judged.ok) {
      done(new ForbiddenTarget(judged.reason), null);
      return;
    }
    let phase: ConnectPhase = isLiteral ? 'connect' : 'dns';
    let resolvedMs = startedMs;
    const opened = (error: Error | null, connected: Socket | null): void => {
      endLimit();
      if (error || !connected || connected.destroyed) {
        done(ConnectFailed.of(error ?? connected?.errored, phase), null);
        return;
      }
      wire.fresh = true;
      wire.dnsMs = isLiteral ? null : resolvedMs - startedMs;
      wire.connectMs = performance.now() - resolvedMs;
      wire.expectResponse = watchReads(connected);
      wire.expectResponse();
      done(null, connected);
    };
    const socket = connectingFor.run(wire.ownerId, () => open(target, opened));
    const endLimit = limitTime(connectTimeoutMs, () => socket.destroy(new ConnectTimeout(phase, connectTimeoutMs)));
    socket.once('lookup', (error) => {
      if (error) return;
      phase = 'connect';
      resolvedMs = performance.now();
    });
    // Before undici's own listener, so that undici never sees a connection to a forbidden address.
    socket.prependOnceListener('connect', () => {
      if (target.protocol === 'https:') phase = 'tls';
      // A socket without a remote address was reset already; its target is unknown.
      const arrived = socket.remoteAddress === undefined ? null : judge(socket.remoteAddress);
      if (!arrived) socket.destroy(new Error('reset while connecting'));
      else if (!arrived.ok) socket.destroy(new ForbiddenTarget(arrived.reason));
    });
  }

  return (target, wire, done) => {
    addresses
      .towards(port)
      .then((judge) => connectTo(target, wire, { judge, done }))
      .catch((error: Error) => done(error, null));
  };
}
