import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';

const AMPERSAND = 0x26;

/**
 * Returns `a=1&b=2&b=3` as the JSON text `{"a":"1","b":["2","3"]}`, for query strings and forms. Written from a map, so
 * that order is kept and `__proto__` is a name like any other. Throws `Refusal` (400) for too many fields.
 */
export function formJson(form: string): string {
  checkFields(form);
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(form)) {
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  const members: string[] = [];
  for (const [name, all] of values) {
    members.push(`${JSON.stringify(name)}:${JSON.stringify(all.length === 1 ? all[0] : all)}`);
  }
  return `{${members.join(',')}}`;
}

/** Counts before decoding: each field costs a string or two, and hundreds of thousands take a second. */
function checkFields(form: string): void {
  let fields = 1;
  for (let at = 0; at < form.length; at++) {
    if (form.charCodeAt(at) === AMPERSAND) fields++;
  }
  if (fields <= LIMITS.formFields) return;
  throw new Refusal(
    'malformed',
    `A form or query has ${fields} fields, but at most ${LIMITS.formFields} (formFields) are taken`,
  );
}
