// What every refusal of the API has in common (RFC 9457).

import assert from 'node:assert/strict';
import type { Answer, Json } from './client.ts';

/** Asserts a well-formed problem that names each of `named`, and returns it. */
export function assertProblem(answer: Answer, status: number | number[], ...named: string[]): Json {
  const what = `${answer.status} ${answer.text}`;
  assert.ok([status].flat().includes(answer.status), `expected ${status}: ${what}`);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/, what);
  assert.ok(answer.headers.get('x-request-id'), 'every answer carries x-request-id');
  const { type, title, status: repeated, detail, error, errors = [] } = answer.json;
  for (const text of [type, title, detail, error]) assert.equal(typeof text, 'string', what);
  assert.equal(repeated, answer.status, what);
  for (const each of errors) {
    assert.equal(typeof each.parameter, 'string', what);
    assert.equal(typeof each.message, 'string', what);
  }
  for (const name of named) assert.ok(JSON.stringify([detail, errors]).includes(name), `${name} is not named: ${what}`);
  return answer.json;
}
