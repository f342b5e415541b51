// `100 Continue` that nobody asked for. A client must be able to take it (RFC 9110, 15.2), and some receivers send it;
// undici passes every other 1xx response on and drops the connection at a 100. So the status of a response that begins with
// 100 is rewritten to 102, one byte of the same length, where undici reads the socket. Rejected: a wrapping stream, which
// costs every response; node:http, which takes a 100, but would be another client for the sake of one byte.

import type { Socket } from 'node:net';

const STATUS_END = 'HTTP/1.1 100'.length;
const DIGIT_0 = 0x30;
const DIGIT_1 = 0x31;
const DIGIT_2 = 0x32;

/** Rewrites a leading 100 in the first piece that is read after each call of the function returned. */
export function tolerateContinue(socket: Socket): () => void {
  let isResponseDue = false;
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read(size);
    if (!isResponseDue || chunk === null) return chunk;
    isResponseDue = false;
    if (isContinue(chunk)) chunk[STATUS_END - 1] = DIGIT_2;
    return chunk;
  };
  return () => {
    isResponseDue = true;
  };
}

/** Looks at the three digits alone: what else the line says is for undici's parser to judge. */
function isContinue(chunk: Buffer): boolean {
  return (
    chunk.length >= STATUS_END &&
    chunk[STATUS_END - 3] === DIGIT_1 &&
    chunk[STATUS_END - 2] === DIGIT_0 &&
    chunk[STATUS_END - 1] === DIGIT_0
  );
}
