// The result of an attempt at a mail: nodemailer's errors and the server's replies as the fields of an Attempt.

import type { Attempt } from '../domain/delivery/delivery.ts';
import { NO_MAIL_SENT } from '../domain/delivery/kept-mail.ts';

export type Reply = Pick<Attempt, 'outcome' | 'status' | 'responseBody' | 'detail' | 'permanent'>;

const QUOTED_CHARS = 500;
const DONE = 250;
// 5xx replies about the session or the credentials: the operator can correct these, and then the same mail is accepted.
const NOT_ABOUT_THE_MAIL = new Set([503, 530, 534, 535, 538]);
const UNREACHABLE = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EACCES', 'EPERM', 'EADDRNOTAVAIL']);
const TLS_CODE = /^(ETLS|EREQUIRETLS|EPROTO|ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|HOSTNAME_)/;

/** Returns the reply of a server that has accepted the mail. */
export function accepted(response: string): Reply {
  const status = Number(/^2\d\d/.exec(response)?.[0] ?? DONE);
  return reply({
    outcome: 'answered',
    status,
    responseBody: response,
    detail: `The mail server took the mail: ${quoted(response)}.`,
  });
}

/** Returns the reply for a mail in the outbox folder, which counts as delivered. `lacking`: why it was not sent. */
export function kept(fileName: string, lacking: 'server' | 'recipient'): Reply {
  const why =
    lacking === 'server'
      ? 'no mail server is configured (ERRAND_SMTP_URL)'
      : 'the owner has no mail address (email of /v1/users/me)';
  return reply({
    outcome: 'answered',
    status: DONE,
    detail: `${NO_MAIL_SENT}${why}. It is in the outbox folder as ${fileName}.`,
  });
}

/** Returns the reply for an outbox folder that could not be written to: most likely a full disk, which is temporary. */
export function notKept(error: unknown): Reply {
  const code = fieldOf(error, 'code');
  return reply({
    outcome: 'refused',
    detail: `The mail could not be written to the outbox folder${inBrackets(code)}.`,
  });
}

/** Returns the reply to a delivery that is not a valid mail, which is final. */
export function malformed(detail: string): Reply {
  return reply({ outcome: 'refused', detail, permanent: true });
}

export function timedOut(afterMs: number): Reply {
  return reply({
    outcome: 'timeout',
    detail: `The time of ${afterMs / 1000} s ran out before the mail server took the mail.`,
  });
}

export function stopped(): Reply {
  return reply({ outcome: 'reset', detail: 'The attempt was stopped before the mail server took the mail.' });
}

/** Translates an error of nodemailer. */
export function refused(error: unknown): Reply {
  const status = fieldOf(error, 'responseCode');
  const response = fieldOf(error, 'response');
  if (typeof status === 'number' && typeof response === 'string') {
    const permanent = status >= 500 && status < 600 && !NOT_ABOUT_THE_MAIL.has(status);
    return reply({
      outcome: 'answered',
      status,
      responseBody: response,
      detail: `The mail server said: ${quoted(response)}.`,
      permanent,
    });
  }
  const code = fieldOf(error, 'code');
  const systemCode = fieldOf(error, 'originalCode');
  const codes = [code, systemCode].filter((each) => typeof each === 'string');
  const shown = inBrackets(systemCode ?? code);
  if (codes.includes('ETIMEDOUT'))
    return reply({ outcome: 'timeout', detail: 'The mail server did not answer in time.' });
  if (codes.includes('EDNS'))
    return reply({ outcome: 'dns', detail: `The mail server's name could not be looked up${shown}.` });
  if (codes.some((each) => TLS_CODE.test(each))) {
    return reply({ outcome: 'tls', detail: `The TLS handshake with the mail server failed${shown}.` });
  }
  if (codes.some((each) => UNREACHABLE.has(each))) {
    return reply({ outcome: 'refused', detail: `The mail server could not be reached${shown}.` });
  }
  // Found by nodemailer from the server's greeting: an unsupported recipient, or a mail that is too large.
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return malformed(`The mail server takes no such mail${shown}.`);
  if (code === 'EAUTH' || code === 'ENOAUTH') {
    return reply({ outcome: 'refused', detail: `The mail server wants other credentials${shown}.` });
  }
  return reply({ outcome: 'reset', detail: `The connection to the mail server was closed${shown}.` });
}

function reply(fields: Partial<Reply> & Pick<Reply, 'outcome' | 'detail'>): Reply {
  return { status: null, responseBody: '', permanent: false, ...fields };
}

function fieldOf(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
}

function quoted(response: string): string {
  return response
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, QUOTED_CHARS)
    .trim()
    .replace(/\.$/, '');
}

function inBrackets(code: unknown): string {
  return typeof code === 'string' && code !== '' ? ` (${code})` : '';
}
