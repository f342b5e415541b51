// The one client for every outgoing call that a user's data can aim. How it keeps to what was judged:
//
// 1. The lookup that the socket itself makes is ours: it resolves once, judges every address, and hands the socket
//    only what it judged. There is no second resolution that could answer differently.
// 2. Node makes no lookup for a literal, so literals are judged before connecting.
// 3. Where the socket ended up is judged again, before a byte is written.
//
// Connections are kept alive and pooled per origin; one that is reused stays at the address that was judged.

import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { LIMITS, SECOND_MS } from '../domain/limits.ts';
import { type Addresses, type Judgement, portOf } from './address.ts';
import { ConnectFailed, type ConnectPhase, ConnectTimeout, ForbiddenTarget } from './failure.ts';
import { guardedLookup } from './lookup.ts';
import { everyAddress, type ResolveName, sharedLookup } from './names.ts';
import { watchReads } from './reads.ts';

/** One connection's state, for the sender of requests over it. */
export interface Wire {
  /** No request was sent over the connection yet, so that its times belong to the next one. */
  fresh: boolean;
  /** Null when the host is a literal. */
  dnsMs: number | null;
  /** TCP and TLS. */
  connectMs: number | null;
  /** Called before each request. */
  expectResponse: () => void;
}

/** A request handler that wants to know over which connection it goes. */
export interface WireAware {
  onWire(wire: Wire): void;
}

export interface GuardedClient {
  readonly addresses: Addresses;
  readonly dispatcher: Dispatcher;
  /** Drops every connection, failing what is under way. May be called twice. */
  close(): Promise<void>;
}

export interface GuardedClientOptions {
  readonly addresses: Addresses;
  readonly lookup?: ResolveName;
  readonly connectTimeoutMs?: number;
  /** Certificates to trust instead of Node's own, as PEM. */
  readonly ca?: string;
}

// An idle receiver may not hold a socket of ours for longer, whatever its Keep-Alive header promises.
const KEEP_ALIVE_MAX_MS = 60 * SECOND_MS;
// Far above what one webhook may have in flight, since many webhooks can share one origin: waiting here counts as their time.
const CONNECTIONS_PER_ORIGIN = 256;
// Node's 250 ms per address makes distant receivers with several addresses unreachable.
const ATTEMPT_PER_ADDRESS_MS = 2 * SECOND_MS;

export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const lookup = sharedLookup(options.lookup ?? everyAddress);
  const poolOf = (origin: string | URL): Pool => {
    const connect = createConnector({ ...options, lookup, port: portOf(new URL(origin)) });
    const openClient = (of: URL) => {
      const wire: Wire = { fresh: false, dnsMs: null, connectMs: null, expectResponse: () => {} };
      return watched(
        new Client(of, { ...CLIENT_OPTIONS, connect: (target, done) => connect(target, wire, done) }),
        wire,
      );
    };
    return new Pool(origin, { ...CLIENT_OPTIONS, connections: CONNECTIONS_PER_ORIGIN, factory: openClient });
  };
  const dispatcher = new Agent({ factory: poolOf });
  return { addresses: options.addresses, dispatcher, close: () => dispatcher.destroy() };
}

// HTTP/1.1 only: with HTTP/2 one connection carries everybody's requests, so that one aborted or oversized response, or one
// GOAWAY, touches other deliveries.
const CLIENT_OPTIONS = {
  allowH2: false,
  pipelining: 1,
  maxHeaderSize: LIMITS.responseHeaderBytes,
  keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
} as const;

/** The pool calls `dispatch` on the connection of its choice, and nothing else tells which one that was. */
function watched(client: Client, wire: Wire): Client {
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (options, handler) => {
    wire.expectResponse();
    (handler as Partial<WireAware>).onWire?.(wire);
    return dispatch(options, handler);
  };
  return client;
}

type Connect = (target: buildConnector.Options, wire: Wire, done: buildConnector.Callback) => void;
interface Judged {
  readonly judge: (ip: string) => Judgement;
  readonly done: buildConnector.Callback;
}
// undici's types hide that a connector returns the socket it opens.
type Opening = (target: buildConnector.Options, done: (error: Error | null, socket: Socket | null) => void) => Socket;

interface ConnectorOptions extends GuardedClientOptions {
  readonly lookup: ResolveName;
  readonly port: number;
}

function createConnector(options: ConnectorOptions): Connect {
  const { addresses, port, connectTimeoutMs = LIMITS.connectTimeoutMs, ca } = options;
  const open = buildConnector({
    lookup: guardedLookup(options),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_PER_ADDRESS_MS,
    allowH2: false,
    // Ours is exact and knows the phase; undici's ticks in half seconds.
    timeout: 0,
    ...(ca === undefined ? {} : { ca }),
  } as buildConnector.BuildOptions) as unknown as Opening;

  function connectTo(target: buildConnector.Options, wire: Wire, { judge, done }: Judged): void {
    const startedMs = performance.now();
    const isLiteral = isIP(target.hostname) !== 0;
    const judged = isLiteral ? judge(target.hostname) : { ok: true as const };
    if (!judged.ok) {
      done(new ForbiddenTarget(judged.reason), null);
      return;
    }
    let phase: ConnectPhase = isLiteral ? 'connect' : 'dns';
    let resolvedMs = startedMs;
    const socket = open(target, (error, connected) => {
      clearTimeout(timer);
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
    });
    const timer = setTimeout(() => socket.destroy(new ConnectTimeout(phase, connectTimeoutMs)), connectTimeoutMs);
    socket.once('lookup', (error) => {
      if (error) return;
      phase = 'connect';
      resolvedMs = performance.now();
    });
    // Before undici's own listener, so that it never sees a connection to a forbidden place.
    socket.prependOnceListener('connect', () => {
      if (target.protocol === 'https:') phase = 'tls';
      // A socket without a remote address was reset already: that is no verdict on where it led.
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
