// Reads what a run asked to send. Senders may rely on the shape of the result.

import type { AskedRequest } from '../../domain/delivery/http-request.ts';
import { isResourceId, PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Outgoing } from '../../domain/run/run.ts';
import { faultOfRequest } from '../child/api/http-request.ts';
import { integer, list, optional, record, shallowJson, text, time } from './inbound-values.ts';
import { checkJson } from './json-check.ts';
import type { RunInFlight } from './run-in-flight.ts';

const OF_STEPS: ReadonlySet<unknown> = new Set<Outgoing['kind']>(['emit', 'email', 'trigger', 'http']);
/** A source can only emit. */
const OF_SOURCES: ReadonlySet<unknown> = new Set<Outgoing['kind']>(['emit']);

/** For a mail or a request: its members, and a value for each header. */
const PARSED_VALUES = 2 * LIMITS.headersPerWebhook + 16;

export function readOutgoing(given: unknown, { request, budget }: RunInFlight): Outgoing[] {
  const kinds = request.source === null ? OF_STEPS : OF_SOURCES;
  const items = list(given, budget.sends);
  budget.sends -= items.length;
  return items.map((item) => {
    const [kind, name, body, summary, itemId, itemTs, deliverAt, verified] = list(item, 8);
    if (!kinds.has(kind)) throw new TypeError('no such kind');
    const given = shallowJson(body, budget.sendBytes);
    const bytes = Buffer.from(given);
    budget.sendBytes -= bytes.byteLength;
    // Code may name any time that has passed.
    const deliverAtMs = optional(deliverAt, (ms) => time(Math.max(0, integer(ms))));
    // The server parses these.
    if (kind === 'http' || kind === 'email') checkJson(given, { values: PARSED_VALUES });
    if (kind === 'http') checkRequest(JSON.parse(given));
    const said = [summary, itemId].map((one) => optional(one, (value) => text(value, LIMITS.descriptionChars)));
    for (const one of said) budget.sendBytes -= one?.length ?? 0;
    if (budget.sendBytes < 0) throw new RangeError('more is sent than may be');
    return {
      kind: kind as Outgoing['kind'],
      name: nameFor(kind as Outgoing['kind'], text(name, LIMITS.eventNameChars)),
      body: bytes,
      summary: said[0] ?? null,
      itemId: said[1] ?? null,
      itemTs: optional(itemTs, integer),
      ...(deliverAtMs === null ? {} : { deliverAtMs }),
      ...(kind === 'emit' && verified === true ? { isVerified: true } : {}),
    };
  });
}

function nameFor(kind: Outgoing['kind'], name: string): string {
  const isRight = {
    emit: !name.startsWith('$'),
    trigger: isResourceId(name, PREFIX.workflow),
    email: name === '',
    http: name === '',
  }[kind];
  if (!isRight) throw new RangeError('no such name');
  return name;
}

function checkRequest(given: unknown): void {
  const { method, url, headers, body } = record(given);
  for (const value of [method, url, ...Object.values(record(headers))]) text(value, LIMITS.resultBytes);
  const fault = faultOfRequest(given as AskedRequest, LIMITS);
  if (fault !== null) throw new RangeError(fault);
  if (body === undefined) return;
  const isBytes = typeof body === 'object';
  const bytes = Buffer.from(
    text(isBytes ? record(body).$base64 : body, LIMITS.resultBytes),
    isBytes ? 'base64' : 'utf8',
  );
  if (bytes.byteLength > LIMITS.requestBodyBytes) throw new RangeError('the body of a request is too long');
}
