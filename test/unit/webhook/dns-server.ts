// A name server on loopback, over UDP, that answers what a test says, and a lookup that asks it alone.

import dgram from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import type { ResolveName } from '../../../src/webhook/names.ts';

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;
export type RecordType = keyof typeof TYPES;

export interface DnsRecord {
  readonly name: string;
  readonly type: RecordType;
  /** An address; of a CNAME another name. */
  readonly value: string;
}

/** Records; a code such as 3 (NXDOMAIN); bytes that are no answer; or nothing at all, ever. */
export type DnsAnswer = readonly DnsRecord[] | number | Buffer | 'silence';

export interface NameServer extends AsyncDisposable {
  /** Names and types that were asked for. */
  readonly asked: readonly string[];
  readonly lookup: ResolveName;
}

const UNTIL_SILENT_MS = 1000;

export async function nameServer(answer: (name: string, type: RecordType) => DnsAnswer): Promise<NameServer> {
  const asked: string[] = [];
  const socket = dgram.createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type } = questionOf(query);
    asked.push(`${name} ${type}`);
    const given = answer(name, type);
    if (given === 'silence') return;
    socket.send(Buffer.isBuffer(given) ? given : replyTo(query, given), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver({ timeout: UNTIL_SILENT_MS, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    asked,
    lookup: (hostname) => lookupAt(resolver, hostname),
    async [Symbol.asyncDispose]() {
      resolver.cancel();
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
}

/** All addresses of both families, as getaddrinfo gives them: it fails only when both do. */
async function lookupAt(resolver: Resolver, hostname: string) {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
  const found = [v4, v6].flatMap((settled) => (settled.status === 'fulfilled' ? settled.value : []));
  return found.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
}

const HEADER_BYTES = 12;

function questionOf(query: Buffer): { name: string; type: RecordType } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const code = query.readUInt16BE(at + 1);
  const type = (Object.keys(TYPES) as RecordType[]).find((name) => TYPES[name] === code) ?? 'A';
  return { name: labels.join('.').toLowerCase(), type };
}

function replyTo(query: Buffer, given: readonly DnsRecord[] | number): Buffer {
  const records = typeof given === 'number' ? [] : given;
  const questionEnd = query.indexOf(0, HEADER_BYTES) + 5;
  const head = Buffer.from(query.subarray(0, questionEnd));
  head.writeUInt16BE(0x8180 | (typeof given === 'number' ? given : 0), 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, ...records.map(recordBytes)]);
}

function recordBytes({ name, type, value }: DnsRecord): Buffer {
  const data = type === 'CNAME' ? nameBytes(value) : addressBytes(value);
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(TYPES[type], 0);
  fixed.writeUInt16BE(1, 2);
  // A time to live of 0: nothing between here and the client may keep it.
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameBytes(name), fixed, data]);
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.of(0)]);
}

/** IPv6 addresses in full: eight groups. */
function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  return Buffer.from(
    address.split(':').flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  );
}
