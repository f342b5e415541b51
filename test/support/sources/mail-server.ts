// A real mail server on loopback, which keeps what it took.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { until } from '../wait.ts';

export interface MailServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly mails: Email[];
  /** Waits until `count` mails came. */
  wait(count: number): Promise<Email[]>;
}

export async function startMailServer(options: SMTPServerOptions = {}, onPort = 0): Promise<MailServer> {
  const mails: Email[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    // How long closing waits for clients that keep their connection.
    closeTimeout: 1,
    onData: (stream, _peer, done) => {
      Array.fromAsync(stream).then(async (chunks) => {
        mails.push(await PostalMime.parse(Buffer.concat(chunks as Buffer[])));
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await once(server.listen(onPort, '127.0.0.1'), 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    wait: (count) => until(`${count} mails at the server`, () => mails.length >= count && mails),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
