// Real mail servers on loopback, and a mailer that uses them.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { PLAIN_EMISSION } from '../../../src/domain/emission.ts';
import { createMailer, type Mailer, type MailerOptions } from '../../../src/mail/mailer.ts';

export const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
export const FROM = 'Errand <errand@example.com>';

export interface Arrived {
  readonly raw: Buffer;
  readonly email: Email;
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
}

/** Takes every mail, unless the options say otherwise. */
export async function mailServer(options: SMTPServerOptions = {}, port = 0) {
  const arrived: Arrived[] = [];
  let connections = 0;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    // How long closing waits for clients that keep their connection.
    closeTimeout: 1,
    onData(stream, session, done) {
      Array.fromAsync(stream).then(async (chunks) => {
        const raw = Buffer.concat(chunks as Buffer[]);
        const { mailFrom, rcptTo } = session.envelope;
        const envelope = { from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address) };
        arrived.push({ raw, email: await PostalMime.parse(raw), envelope });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  server.server.on('connection', () => connections++);
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const address = server.server.address() as AddressInfo;
  return {
    arrived,
    connections: () => connections,
    port: address.port,
    url: `smtp://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

/** Speaks as told and not SMTP, unless told to. */
export async function rawServer(onConnection: (socket: net.Socket) => void) {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    onConnection(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    sockets,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export interface TestMailer extends Mailer, AsyncDisposable {
  readonly outboxDir: string;
}

export function mailerFor(options: Partial<MailerOptions> = {}): TestMailer {
  // Nothing of it exists: the outbox is made when it is needed.
  const folder = join(tmpdir(), `errand-mail-${randomUUID()}`);
  const outboxDir = join(folder, 'data', 'outbox');
  let drawn = 0;
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const mailer = createMailer({
    smtpUrl: null,
    from: FROM,
    outboxDir,
    clock: { nowMs: () => NOW_MS },
    random: { bytes: (count) => new Uint8Array(count).fill(drawn++), fraction: () => 0 },
    log: silent,
    ...options,
  });
  return {
    ...mailer,
    outboxDir,
    async [Symbol.asyncDispose]() {
      await mailer.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface MailParts {
  readonly body?: unknown;
  readonly raw?: Uint8Array;
  readonly mailTo?: string | null;
  readonly emitId?: string;
}

export function mail({ body = PLAIN, raw, mailTo = 'owner@example.org', emitId = 'abcde12345' }: MailParts = {}) {
  const delivery: ClaimedDelivery = {
    delivery: 1,
    fence: 1,
    kind: 'mail',
    subscriptionId: null,
    via: 'direct',
    webhook: null,
    mailTo,
    attempt: 1,
    tries: 0,
    trigger: 'event',
    emission: {
      ...PLAIN_EMISSION,
      ownerId: 'u_1',
      emitterId: 'p_1',
      originId: 'p_1',
      sourceType: 'WORKFLOW',
      entry: NOW_MS * 1024 + 7,
      emitId,
      traceId: emitId,
      body: raw ?? Buffer.from(JSON.stringify(body)),
    },
  };
  return delivery;
}

const PLAIN = { subject: 'Grüße', text: 'First line\n.leading dot\nFrom here on ☃\n' };
