// A connection to an IMAP server for the time of one poll.

import { ImapFlow } from 'imapflow';

const TIMEOUT_MS = 15_000;
export const PORTS = { tls: 993, starttls: 143, none: 143 };

/** `work` is given the client, with the mailbox open. `isReadOnly`: nothing changes there, whatever is asked for. */
export async function openMailbox({ host, port, security, user, password, ca, mailbox, isReadOnly }, work) {
  const client = new ImapFlow({
    host,
    port,
    secure: security === 'tls',
    // Undefined would take it where it is offered; then who listens in between could withhold the offer.
    doSTARTTLS: security === 'starttls',
    auth: { user, pass: password },
    tls: ca ? { ca } : {},
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  // Without a listener, a connection that is lost would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.mailboxOpen(mailbox, { readOnly: isReadOnly });
    const done = await work(client);
    await client.logout();
    return done;
  } catch (error) {
    throw explained(error, `${mailbox} of ${user} at ${host}:${port}`);
  } finally {
    client.close();
  }
}

function explained(error, what) {
  const why = error.responseText || error.message || error.code;
  const hint = error.authenticationFailed ? ' (the user or the password is wrong)' : '';
  return Object.assign(new Error(`${what} cannot be read: ${why}${hint}`, { cause: error }), { code: error.code });
}
