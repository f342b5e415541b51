// What a run has answered, as it is kept.

import type { HttpAnswer } from '../../domain/run/run.ts';

/** Kept as JSON with the body in base64, since an answer's body may be any bytes. */
export function answerText(answer: HttpAnswer): string {
  const { status, headers, body } = answer;
  return JSON.stringify({ status, headers, body: Buffer.from(body).toString('base64') });
}

/** From what `answerText` wrote. */
export function parseAnswer(text: string): HttpAnswer {
  const kept = JSON.parse(text) as Omit<HttpAnswer, 'body'> & { body: string };
  return { ...kept, body: Buffer.from(kept.body, 'base64') };
}
