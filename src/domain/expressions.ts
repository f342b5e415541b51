// Expressions in a step's configuration: `{{steps.trigger.event.body.name}}` is replaced by its value in the run. An
// expression is JavaScript and names `steps` or `process.env`; other braces are text, since templates of other services
// use them. The check of props and the code that resolves them share this definition.

/** Text, and expressions between it. */
export type Part = string | { readonly expression: string };

/** No JavaScript begins like this: `{{#each steps.list}}` belongs to another template language. */
const OF_A_TEMPLATE = /^\s*[#>^&]/;
const NAMES_A_RUN = /(?<![\w$.'"])(steps\s*(\?\.|[.[])|process\.env\b)/;

/** Returns text and expressions in order; null when there is no expression. Linear, since callers choose the text. */
export function partsOf(text: string): readonly Part[] | null {
  const parts: Part[] = [];
  let done = 0;
  let from = 0;
  for (let end = text.indexOf('}}'); end !== -1; end = text.indexOf('}}', from)) {
    // The innermost braces count: earlier ones are text.
    const open = text.slice(from, end).lastIndexOf('{{');
    const begin = from + open;
    from = end + 2;
    const inner = open === -1 ? '' : text.slice(begin + 2, end);
    if (!NAMES_A_RUN.test(inner) || OF_A_TEMPLATE.test(inner)) continue;
    if (begin > done) parts.push(text.slice(done, begin));
    parts.push({ expression: inner.trim() });
    done = from;
  }
  if (parts.length === 0) return null;
  if (done < text.length) parts.push(text.slice(done));
  return parts;
}

export function hasExpression(value: unknown): boolean {
  return typeof value === 'string' && partsOf(value) !== null;
}
