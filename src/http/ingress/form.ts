/**
 * `a=1&b=2&b=3` as the JSON text `{"a":"1","b":["2","3"]}`: of a query string or a form. Written from a map, so that
 * order is kept and `__proto__` is a name like any other.
 */
export function formJson(form: string): string {
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
