// `include` and `exclude` of lists: which members of the records an answer has. A name that the records do not have is
// refused: misspelt, it would leave nothing of each record, or what was to be left out.

import type { TSchema } from 'typebox';
import { Refusal } from '../../domain/refusal.ts';
import { isRecord } from '../body/json.ts';
import { propertiesOf } from '../params.ts';
import type { Keywords } from '../schema/check.ts';
import { knownNames } from '../suggestion.ts';
import { isoTimesSchema } from './iso-times-schema.ts';

interface Choice {
  readonly include?: string;
  readonly exclude?: string;
}

const names = new WeakMap<TSchema, readonly string[]>();

/** Refuses names that the records of a list do not have. `schema`: the answer's. */
export function checkFields({ include, exclude }: Choice, schema: TSchema): void {
  for (const [parameter, list] of Object.entries({ include, exclude })) {
    if (typeof list !== 'string') continue;
    const known = namesIn(schema);
    const unknown = namesOf(list).find((name) => !known.includes(name));
    if (unknown === undefined) continue;
    const message = `names ${JSON.stringify(unknown.slice(0, 80))}, which is no field of these records: ${knownNames(unknown, known)}`;
    throw new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
  }
}

/** Returns a list's answer with the members that were chosen. */
export function withFields(answer: unknown, { include, exclude }: Choice): unknown {
  if ((include === undefined && exclude === undefined) || !isRecord(answer) || !Array.isArray(answer.data))
    return answer;
  const [included, excluded] = [include, exclude].map((list) => (list === undefined ? undefined : namesOf(list)));
  const isChosen = (name: string): boolean => (included?.includes(name) ?? true) && !excluded?.includes(name);
  const data = answer.data.map((record: object) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => isChosen(name))),
  );
  return { ...answer, data };
}

function namesOf(list: string): string[] {
  return list.split(',').map((name) => name.trim());
}

function namesIn(schema: TSchema): readonly string[] {
  const before = names.get(schema);
  if (before) return before;
  const { items } = propertiesOf(schema).data as Keywords;
  const made = Object.keys(propertiesOf(items && isoTimesSchema(items)));
  names.set(schema, made);
  return made;
}
