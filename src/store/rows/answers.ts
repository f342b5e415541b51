// Answers of runs as they are stored.

import type { HttpAnswer } from '../../domain/run/run.ts';

/** Returns an answer as JSON text, the body in base64, since it may be any bytes. */
export function answerText(answer: HttpAnswer): string {
  const { status, headers, body } = answer;
  return JSON.stringify({ status, headers, body: Buffer.from(body).toString('base64') });
}

/** Reads the text of `answerText`. */
export function parseAnswer(text: string): HttpAnswer {
  const kept = JSON.parse(text) as Omit<HttpAnswer, 'body'> & { body: string };
  return { ...kept, body: Buffer.from(kept.body, 'base64') };
}
