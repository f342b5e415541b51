// Many requests, written as they are onto a few connections, many at a time. No client looks at them before.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawRequest {
  readonly method: string;
  readonly target: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

export interface PipelinedAnswer {
  readonly status: number;
  readonly body: string;
}

const AT_ONCE = 40;
const CONNECTIONS = 4;

/** The answers, in the order of the requests. A connection that the server closes is opened again for what it left. */
export async function pipeline(url: string, requests: readonly RawRequest[]): Promise<PipelinedAnswer[]> {
  const answers: PipelinedAnswer[] = new Array(requests.length);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < requests.length) {
      const from = next;
      next = Math.min(from + AT_ONCE, requests.length);
      await sendAll(url, { requests, answers, from, end: next });
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return answers;
}

interface Stretch {
  readonly requests: readonly RawRequest[];
  readonly answers: PipelinedAnswer[];
  readonly from: number;
  readonly end: number;
}

async function sendAll(url: string, { requests, answers, from, end }: Stretch): Promise<void> {
  for (let at = from; at < end; ) {
    const got = await exchange(url, requests.slice(at, end));
    if (got.length === 0) throw new Error(`no answer to ${textOf(requests[at] as RawRequest)}`);
    for (const answer of got) answers[at++] = answer;
  }
}

/** As many answers as came before the connection was closed. */
async function exchange(url: string, requests: readonly RawRequest[]): Promise<PipelinedAnswer[]> {
  const { hostname, port } = new URL(url);
  const socket: Socket = connect({ host: hostname, port: Number(port) });
  const answers: PipelinedAnswer[] = [];
  let received = '';
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    for (;;) {
      const request = requests[answers.length];
      const taken = request && answerOf(received, request.method === 'HEAD');
      if (!taken) break;
      answers.push(taken.answer);
      received = received.slice(taken.length);
    }
    if (answers.length === requests.length) socket.destroy();
  });
  await once(socket, 'connect');
  socket.write(requests.map(textOf).join(''), 'latin1');
  await closed;
  return answers;
}

function textOf({ method, target, headers = [], body }: RawRequest): string {
  const more =
    body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`];
  const lines = [`${method} ${target} HTTP/1.1`, 'host: x', ...headers, ...more, '', body ?? ''];
  return Buffer.from(lines.join('\r\n')).toString('latin1');
}

function answerOf(received: string, isHead: boolean): { answer: PipelinedAnswer; length: number } | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = received.slice(0, end);
  const size = isHead ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const length = end + 4 + size;
  if (received.length < length) return null;
  return { answer: { status: Number(head.slice(9, 12)), body: received.slice(end + 4, length) }, length };
}
