// Why an attempt got no whole answer: undici's and Node's many errors as one outcome and one sentence.
// The sentence names neither the URL (its query may contain a secret) nor any address.

import type { AttemptOutcome } from '../domain/delivery/delivery.ts';
import { KIB, LIMITS } from '../domain/limits.ts';
import type { UrlJudgement } from './address.ts';
import { undici } from './undici.ts';

export type ConnectPhase = 'dns' | 'connect' | 'tls';
/** The progress of a request. */
export type Stage = 'waiting' | 'sent' | 'body';

export interface Failure {
  readonly outcome: AttemptOutcome;
  readonly detail: string;
}

/** The target may not be reached. `reason` does not name an address. */
export class ForbiddenTarget extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(`refused: ${reason}`);
    this.name = 'ForbiddenTarget';
    this.reason = reason;
  }
}

export class ConnectTimeout extends Error {
  readonly phase: ConnectPhase;
  readonly afterMs: number;
  constructor(phase: ConnectPhase, afterMs: number) {
    super(`${phase} timed out after ${afterMs} ms`);
    this.name = 'ConnectTimeout';
    this.phase = phase;
    this.afterMs = afterMs;
  }
}

/** The request cannot be built. The message is shown: it quotes no secret and no header's value. */
export class Unsendable extends Error {
  override readonly name = 'Unsendable';
}

/** The answer is longer than any answer may be, in whichever part. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** The connection failed; the system's own error is the cause. */
export class ConnectFailed extends Error {
  readonly phase: ConnectPhase;
  readonly systemCode: string;
  private constructor(phase: ConnectPhase, cause: unknown) {
    super(`${phase} failed`, { cause });
    this.name = 'ConnectFailed';
    this.phase = phase;
    this.systemCode = codeOf(cause);
  }
  // Every error except these two is wrapped: undici reconnects in a loop on some codes of the system.
  static of(error: unknown, phase: ConnectPhase): Error {
    return error instanceof ForbiddenTarget || error instanceof ConnectTimeout
      ? error
      : new ConnectFailed(phase, error);
  }
}

const TIMEOUT_WORDS: Record<ConnectPhase, string> = {
  dns: 'Looking up the name took',
  connect: 'Connecting took',
  tls: 'The TLS handshake took',
};

const STAGE_WORDS: Record<Stage, string> = {
  waiting: 'before the request was sent',
  sent: 'before an answer came',
  body: 'before the whole response body came',
};

const TLS_WORDS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate chain ends in an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the issuer of the certificate is unknown',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the authority of the certificate is unknown, or the certificates between them were not sent',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
};

/** Where the authority may be the operator's own. */
const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const OURS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);
const RESETS = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', '']);
const STOPPED = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED', 'UND_ERR_ABORTED']);

/** Translates an error of undici or of the connector at a stage of the request. */
export function failureOf(error: unknown, stage: Stage): Failure {
  if (error instanceof ForbiddenTarget) return forbidden(error.reason);
  if (error instanceof ConnectTimeout) {
    return { outcome: 'timeout', detail: `${TIMEOUT_WORDS[error.phase]} longer than ${inWords(error.afterMs)}.` };
  }
  if (error instanceof ConnectFailed) return connectFailure(error);
  const code = codeOf(error);
  if (STOPPED.has(code)) return stopped(stage);
  if (code === 'UND_ERR_INVALID_ARG')
    return { outcome: 'refused', detail: 'The request could not be made: it holds what no request may.' };
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || error instanceof AnswerTooLong) {
    const kib = LIMITS.responseHeaderBytes / KIB;
    return {
      outcome: 'reset',
      detail: `The response headers were larger than ${kib} KiB, so the connection was dropped.`,
    };
  }
  // undici asserts on answers that its parser accepts, such as a status of 000.
  if (error instanceof undici().errors.HTTPParserError || code === 'ERR_ASSERTION') {
    return { outcome: 'reset', detail: `The answer was not valid HTTP${parserWords(error)}.` };
  }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return { outcome: 'reset', detail: 'The answer was not valid HTTP: its Content-Length is wrong.' };
  }
  // In TLS 1.3 the server asks for a client certificate only after the handshake.
  if (code.startsWith('ERR_SSL_')) {
    return {
      outcome: 'tls',
      detail: `The receiver ended the secure connection ${STAGE_WORDS[stage]}${inBrackets(code)}.`,
    };
  }
  if (code === 'ETIMEDOUT') return { outcome: 'timeout', detail: `The connection timed out ${STAGE_WORDS[stage]}.` };
  return { outcome: 'reset', detail: `The connection was closed ${STAGE_WORDS[stage]}${inBrackets(code)}.` };
}

export function forbidden(reason: string): Failure {
  return { outcome: 'forbidden', detail: `Refused before anything was sent: ${reason}${openedBy(reason)}.` };
}

/** Returns why an address may never be reached, and what opens it; null when it may be reached. */
export function reasonOf(judged: UrlJudgement): string | null {
  return judged.ok ? null : judged.reason + openedBy(judged.reason);
}

/** Returns what opens an address of that reason, to stand behind it; empty when the reason is not about an address. */
function openedBy(reason: string): string {
  const isOfAddress = /^the (address|name resolves)/.test(reason);
  return isOfAddress ? '; only public addresses are reached, and those that ERRAND_ALLOW_TARGETS opens' : '';
}

/**
 * Returns the failure of an attempt that sent nothing, and of which the receiver is not the cause: an invalid record, a machine
 * without descriptors or memory, or a bug, whose message may contain anything.
 */
export function unsent(error: unknown): Failure {
  const code = codeOf(error);
  const bug = OURS.has(code)
    ? `this machine is short of something${inBrackets(code)}`
    : `an error inside Errand (${nameOf(error)})`;
  const why = error instanceof Unsendable ? error.message : bug;
  return { outcome: 'refused', detail: `The request could not be made: ${why}.` };
}

/** Returns the failure of an attempt that timed out as a whole. */
export function timedOut(stage: Stage, afterMs: number): Failure {
  return { outcome: 'timeout', detail: `The time of ${inWords(afterMs)} ran out ${STAGE_WORDS[stage]}.` };
}

/** Returns the failure of an attempt that its caller ended, and does not count as an attempt. */
export function stopped(stage: Stage): Failure {
  return { outcome: 'reset', detail: `The attempt was stopped ${STAGE_WORDS[stage]}.` };
}

function connectFailure({ phase, systemCode: code }: ConnectFailed): Failure {
  if (phase === 'dns') return { outcome: 'dns', detail: `The name could not be looked up${inBrackets(code)}.` };
  if (OURS.has(code))
    return { outcome: 'refused', detail: `This machine could not open a connection${inBrackets(code)}.` };
  if (code === 'ETIMEDOUT') return { outcome: 'timeout', detail: 'Connecting timed out: nothing answered.' };
  if (RESETS.has(code)) {
    const during = phase === 'tls' ? 'during the TLS handshake' : 'while connecting';
    return { outcome: 'reset', detail: `The connection was closed ${during}${inBrackets(code)}.` };
  }
  if (phase === 'tls') {
    const why = TLS_WORDS[code] ?? 'no secure connection came about';
    const remedy = UNTRUSTED.has(code)
      ? '; for an authority of your own, set NODE_EXTRA_CA_CERTS of the server to its file'
      : '';
    return { outcome: 'tls', detail: `The TLS handshake failed: ${why}${inBrackets(code)}${remedy}.` };
  }
  if (code === 'ECONNREFUSED') return { outcome: 'refused', detail: 'The receiver refused the connection.' };
  return { outcome: 'refused', detail: `The receiver could not be reached${inBrackets(code)}.` };
}

/** Returns the parser's own message in brackets: a constant that quotes nothing of the answer. */
function parserWords(error: unknown): string {
  const words = error instanceof Error ? /\(([\w .,'/-]+)\)$/.exec(error.message)?.[1] : undefined;
  return words === undefined ? '' : `: ${words}`;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function inBrackets(code: string): string {
  // undici's own codes add nothing to the sentence.
  return code === '' || code.startsWith('UND_') ? '' : ` (${code})`;
}

function inWords(ms: number): string {
  return `${ms / 1000} s`;
}
