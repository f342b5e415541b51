import { Refusal } from '../../domain/fault.ts';
import { LIMITS } from '../../domain/limits.ts';

const AMPERSAND = 0x26;

/**
 * `a=1&b=2&b=3` as the JSON text `{"a":"1","b":["2","3"]}`: of a query string or a form. Written from a map, so that
 * order is kept and `__proto__` is a name like any other. Throws `Refusal` (400) for more fields than an event may have.
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

/** Before any field is decoded: each is a string or two of its own, and hundreds of thousands take a second. */
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
