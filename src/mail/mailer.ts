// One mail delivery, one Attempt: over SMTP when a server and a recipient are known, else into the outbox folder.

import type { Attempt, ClaimedDelivery } from '../domain/delivery/delivery.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Clock, Log, Random } from '../ports.ts';
import { limitTime } from '../time-limit.ts';
import { type Letter, letterOf } from './letter.ts';
import { createOutbox } from './outbox.ts';
import { accepted, kept, malformed, notKept, type Reply, refused, stopped, timedOut } from './reply.ts';
import { createSmtp, type Smtp } from './smtp.ts';

export interface Mailer {
  /** Sends one mail. Never throws and never rejects; an aborted `signal` ends it at once, with an outcome without meaning. */
  send(delivery: ClaimedDelivery, signal?: AbortSignal): Promise<Attempt>;
  /** Closes idle connections; busy ones close when they are done. May be called twice. */
  close(): Promise<void>;
}

export interface MailerOptions {
  /** Null: every mail goes into the outbox folder. */
  readonly smtpUrl: string | null;
  readonly from: string;
  readonly outboxDir: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Of the whole attempt over SMTP. */
  readonly timeoutMs?: number;
  readonly connectTimeoutMs?: number;
}

/** Throws when `smtpUrl` is not an SMTP address. */
export function createMailer(options: MailerOptions): Mailer {
  // Longer than a webhook's: servers that scan mails, or delay unknown senders, answer after tens of seconds.
  const { smtpUrl, from, clock, log, connectTimeoutMs, timeoutMs = LIMITS.maxAttemptTimeoutMs } = options;
  const smtp = smtpUrl === null ? null : createSmtp({ smtpUrl, ...(connectTimeoutMs && { connectTimeoutMs }) });
  const outbox = createOutbox(options);

  async function replyTo(delivery: ClaimedDelivery, signal?: AbortSignal): Promise<Reply> {
    const letter = letterOf(delivery, from);
    if (typeof letter === 'string') return malformed(letter);
    if (smtp && letter.to !== null) return sendInTime({ smtp, letter, timeoutMs, signal });
    const lacking = smtp ? 'recipient' : 'server';
    return outbox.write(letter).then(
      (name) => kept(name, lacking),
      (error) => {
        log.error({ err: error }, 'mail could not be written to the outbox');
        return notKept(error);
      },
    );
  }

  async function send(delivery: ClaimedDelivery, signal?: AbortSignal): Promise<Attempt> {
    const startedAtMs = clock.nowMs();
    const startedMs = performance.now();
    const reply = await replyTo(delivery, signal).catch(refused);
    return {
      startedAtMs,
      tookMs: Math.round(performance.now() - startedMs),
      timing: { dnsMs: null, connectMs: null, firstByteMs: null },
      responseHeaders: {},
      ...reply,
      responseBody: reply.responseBody.replaceAll('\0', '\ufffd').slice(0, LIMITS.keptResponseBytes),
    };
  }

  return {
    send,
    async close() {
      smtp?.close();
    },
  };
}

interface MailAttempt {
  readonly smtp: Smtp;
  readonly letter: Letter;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

async function sendInTime({ smtp, letter, timeoutMs, signal }: MailAttempt): Promise<Reply> {
  if (signal?.aborted) return stopped();
  // nodemailer's own timeouts restart with every reply of the server.
  const cut = new AbortController();
  const endLimit = limitTime(timeoutMs, () => cut.abort());
  const either = signal ? AbortSignal.any([signal, cut.signal]) : cut.signal;
  try {
    return accepted(await smtp.send(letter, either));
  } catch (error) {
    if (signal?.aborted) return stopped();
    return cut.signal.aborted ? timedOut(timeoutMs) : refused(error);
  } finally {
    endLimit();
  }
}
