// Expressions in what a step is configured with: `{{steps.trigger.event.body.name}}` stands for what the run has there.
// An expression is JavaScript, and names `steps` or `process.env`; other braces are text, as templates of other services
// have them. Where props are checked and where code gets them must mean the same by it.

/** Text, and expressions between it. */
export type Part = string | { readonly expression: string };

/** Nothing that begins so is JavaScript: `{{#each steps.list}}` is some template's. */
const OF_A_TEMPLATE = /^\s*[#>^&]/;
const NAMES_A_RUN = /(?<![\w$.'"])(steps\s*(\?\.|[.[])|process\.env\b)/;

/** In the order of the text; null: it has no expression. Linear, since the server asks it of what callers send. */
export function partsOf(text: string): readonly Part[] | null {
  const parts: Part[] = [];
  let done = 0;
  let from = 0;
  for (let end = text.indexOf('}}'); end !== -1; end = text.indexOf('}}', from)) {
    // The innermost braces: those before them are text.
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
