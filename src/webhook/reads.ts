// Two changes of a connection's input, before undici's parser gets it; both where undici calls `read`. Rejected: a wrapping
// stream, which costs every response.
//
// Unrequested `100 Continue`: clients must accept it (RFC 9110, 15.2), and some receivers send it; undici accepts every
// other 1xx response and drops the connection at a 100. So the status of a response that begins with 100 is rewritten to
// 102, one byte of the same length. Rejected: node:http, which accepts a 100, but would be another client for the sake of
// one byte.
//
// The length of a whole answer: undici counts headers, and exchange.ts the body, but early hints can be endless, and so can
// the text around the chunks of a body.

import type { Socket } from 'node:net';
import { KIB, LIMITS } from '../domain/limits.ts';
import { AnswerTooLong } from './failure.ts';

const STATUS_END = 'HTTP/1.1 100'.length;
const DIGIT_0 = 0x30;
const DIGIT_1 = 0x31;
const DIGIT_2 = 0x32;
// The size of Node's reads: exchange.ts, which counts bodies, must see one that is too long.
const READ_BYTES = 64 * KIB;
const ANSWER_BYTES = LIMITS.responseHeaderBytes + LIMITS.responseBytes + READ_BYTES;

/** Returns a function to call before each request. An answer that is too long ends the connection with `AnswerTooLong`. */
export function watchReads(socket: Socket): () => void {
  let isFirst = false;
  let answerBytes = 0;
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read(size);
    if (chunk === null) return chunk;
    answerBytes += chunk.length;
    if (answerBytes > ANSWER_BYTES) {
      socket.destroy(new AnswerTooLong());
      return null;
    }
    if (isFirst && isContinue(chunk)) chunk[STATUS_END - 1] = DIGIT_2;
    isFirst = false;
    return chunk;
  };
  return () => {
    isFirst = true;
    answerBytes = 0;
  };
}

/** Reads the three digits alone: undici's parser judges the rest of the line. */
function isContinue(chunk: Buffer): boolean {
  return (
    chunk.length >= STATUS_END &&
    chunk[STATUS_END - 3] === DIGIT_1 &&
    chunk[STATUS_END - 2] === DIGIT_0 &&
    chunk[STATUS_END - 1] === DIGIT_0
  );
}
