// A connection to a target that user code named, made as client.ts makes them, without a protocol on top.
//
// Each address of the name is judged, and so is the address that was connected to.

import { connect, isIP, type Socket } from 'node:net';
import { LIMITS, SECOND_MS } from '../domain/limits.ts';
import { limitTime } from '../time-limit.ts';
import type { Addresses, Judgement } from './address.ts';
import { ConnectFailed, ConnectTimeout, ForbiddenTarget } from './failure.ts';
import { guardedLookup } from './lookup.ts';
import type { ResolveName } from './names.ts';

export interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

export interface Tunnels {
  /** Rejects with ForbiddenTarget, ConnectTimeout or ConnectFailed. */
  open(target: TunnelTarget, signal: AbortSignal): Promise<Socket>;
}

export interface TunnelOptions {
  readonly addresses: Addresses;
  readonly lookup: ResolveName;
  readonly connectTimeoutMs?: number;
}

const ATTEMPT_PER_ADDRESS_MS = 2 * SECOND_MS;

export function createTunnels(options: TunnelOptions): Tunnels {
  return {
    open: async (target, signal) => {
      const judge = await options.addresses.towards(target.port);
      return await connectTo(target, { ...options, judge, signal });
    },
  };
}

type Connecting = TunnelOptions & {
  readonly judge: (ip: string) => Judgement;
  readonly signal: AbortSignal;
};

function connectTo({ host, port }: TunnelTarget, options: Connecting): Promise<Socket> {
  const { addresses, judge, lookup, signal, connectTimeoutMs = LIMITS.connectTimeoutMs } = options;
  const isLiteral = isIP(host) !== 0;
  const judged = isLiteral ? judge(host) : { ok: true as const };
  if (!judged.ok) return Promise.reject(new ForbiddenTarget(judged.reason));
  return new Promise((resolve, reject) => {
    let phase: 'dns' | 'connect' = isLiteral ? 'connect' : 'dns';
    const socket = connect({
      host,
      port,
      lookup: guardedLookup({ addresses, port, lookup }),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ATTEMPT_PER_ADDRESS_MS,
      allowHalfOpen: true,
      noDelay: true,
      signal,
    });
    const endLimit = limitTime(connectTimeoutMs, () => socket.destroy(new ConnectTimeout(phase, connectTimeoutMs)));
    socket.once('lookup', (error) => {
      if (!error) phase = 'connect';
    });
    const onError = (error: Error): void => {
      endLimit();
      reject(ConnectFailed.of(error, phase));
    };
    socket.once('error', onError);
    socket.once('connect', () => {
      endLimit();
      // A socket without a remote address was reset already.
      const arrived = socket.remoteAddress === undefined ? null : judge(socket.remoteAddress);
      if (!arrived) socket.destroy(new Error('reset while connecting'));
      else if (!arrived.ok) socket.destroy(new ForbiddenTarget(arrived.reason));
      else {
        socket.off('error', onError);
        resolve(socket);
      }
    });
  });
}
