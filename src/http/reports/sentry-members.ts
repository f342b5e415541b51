// Members of an event of a client of Sentry, whatever they are.

import { isRecord } from '../body/json.ts';

export type Members = Readonly<Record<string, unknown>>;

/** Returns the values of a member. Members that hold a list stand as `{values: […]}`, or as the list itself. */
export function valuesOf(member: unknown): readonly unknown[] {
  const values = isRecord(member) && 'values' in member ? member.values : member;
  if (Array.isArray(values)) return values;
  return isRecord(values) ? [values] : [];
}

export function textIn(members: Members, name: string): string {
  return textOf(members[name]);
}

/** Returns the text of a plain value; empty: it is none. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
