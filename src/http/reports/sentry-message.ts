// What an event of a client of Sentry says: its message with the parameters in their places, or the value that was thrown.

import { LIMITS } from '../../domain/limits.ts';
import { isRecord } from '../body/json.ts';
import { type Members, textIn, textOf } from './sentry-members.ts';

export interface SaidMessage {
  readonly text: string;
  /** The message without parameters: what they are differs from error to error. */
  readonly template: string;
}

export function messageOf(event: Members): SaidMessage {
  for (const member of [event.logentry, event.message]) {
    if (typeof member === 'string') return { text: member, template: member };
    const formatted = isRecord(member) ? textIn(member, 'formatted') : '';
    if (formatted !== '') return { text: formatted, template: formatted };
    const said = isRecord(member) ? textIn(member, 'message') : '';
    if (isRecord(member) && said !== '') return { text: filled(said, member.params), template: said };
  }
  return { text: '', template: '' };
}

/** Returns what was thrown as text; a value that is no text as JSON. */
export function thrownText({ value }: Members): string {
  return shown(value);
}

function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : textOf(value);
}

/** As printf has them in many languages: `%s`, `%5.2f`, `%(name)s`. */
const PLACE = /%(?:\((\w{1,64})\))?[-+ #0]{0,5}\d{0,3}(?:\.\d{1,3})?[a-zA-Z%]/g;

/**
 * Returns the message with the parameters, a list or an object, in their places. A place without one stays as it is. No more is filled
 * in than is kept of a message: one large parameter may be named in thousands of places.
 */
function filled(message: string, params: unknown): string {
  const list = Array.isArray(params) ? params : [];
  const named = isRecord(params) ? params : {};
  if (list.length === 0 && Object.keys(named).length === 0) return message;
  let next = 0;
  let room: number = LIMITS.messageBytes;
  return message.slice(0, room).replace(PLACE, (place, name: string | undefined) => {
    if (place.endsWith('%')) return '%';
    const value = name === undefined ? list[next++] : Object.hasOwn(named, name) ? named[name] : undefined;
    if (value === undefined || room <= 0) return place;
    const text = (shown(value) || String(value)).slice(0, room);
    room -= text.length;
    return text;
  });
}
