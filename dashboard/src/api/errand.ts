// The one place that talks to the server: the client of the interface, with the session's cookie, and the header that a change
// needs.

import { type CallOptions, ConnectionError, Errand, textOf } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { parseNumbers } from '../errors/event-text.ts';

/** Heard by the session: the server no longer knows it. */
export const SIGNED_OUT = 'errand:signed-out';

let session = 0;

/** Called when a session begins: what an earlier one is still refused does not end it. */
export function beginSession(): void {
  session++;
}

/** Queries are asked again by their pages, and a slow server is waited for. */
const OPTIONS = { headers: { 'x-errand-dashboard': '1' }, retries: 0, timeoutMs: Number.POSITIVE_INFINITY };

/** For calls that change nothing. */
export const errand = new Errand({ ...OPTIONS, fetch: ask });

/** For changes. One that is under way is not sent again: a button that is pressed twice while the server is slow has one effect. */
export const changes = new Errand({ ...OPTIONS, fetch: askOnce });

/** What a call takes of a query. */
export type Asked = Pick<CallOptions, 'signal'>;

/** Returns the record of an answer. */
export async function dataOf<Data>(answer: Promise<{ readonly data: Data }>): Promise<Data> {
  return (await answer).data;
}

/** Returns what an answer holds, with numbers as they were written (`WrittenNumber`): those of events are not rounded. */
export async function exactDataOf<Data>(answer: Promise<{ readonly data: Data }>): Promise<Data> {
  return (parseNumbers(textOf(await answer)) as { data: Data }).data;
}

async function ask(url: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const of = session;
  const response = await fetch(url, { ...init, credentials: 'same-origin' }).catch((error: unknown) => {
    throw init?.signal?.aborted ? error : new ConnectionError(T.common.noAnswer, { cause: error });
  });
  if (response.status === 401 && of === session) window.dispatchEvent(new Event(SIGNED_OUT));
  return response;
}

interface Answer {
  readonly text: string;
  readonly init: ResponseInit;
}

/** Changes that are under way. */
const changing = new Map<string, Promise<Answer>>();

async function askOnce(url: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const key = JSON.stringify([session, init?.method, url, init?.body]);
  const known = changing.get(key) ?? readAnswer(ask(url, init)).finally(() => changing.delete(key));
  changing.set(key, known);
  const answer = await known;
  return new Response(answer.text, answer.init);
}

/** Reads an answer, for each of the calls that wait for it. */
async function readAnswer(asked: Promise<Response>): Promise<Answer> {
  const response = await asked;
  const { status, statusText, headers } = response;
  return { text: await response.text(), init: { status, statusText, headers } };
}
