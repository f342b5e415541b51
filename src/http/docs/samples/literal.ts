// A JSON value as a literal of a programming language.

export interface Language {
  readonly indent: string;
  readonly null: string;
  readonly true: string;
  readonly false: string;
  text(value: string): string;
  key(name: string): string;
}

/** Shorter lists and objects stand in one line. */
const MAX_LINE = 60;

export function literalOf(value: unknown, language: Language, margin = ''): string {
  if (value === null || value === undefined) return language.null;
  if (typeof value === 'boolean') return value ? language.true : language.false;
  if (typeof value === 'string') return language.text(value);
  if (typeof value !== 'object') return String(value);
  const inner = margin + language.indent;
  const parts = Array.isArray(value)
    ? value.map((item) => literalOf(item, language, inner))
    : Object.entries(value).map(([name, item]) => `${language.key(name)}: ${literalOf(item, language, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  const line = parts.join(', ');
  if (line.length <= MAX_LINE && !line.includes('\n') && !/[[{]/.test(line)) {
    return Array.isArray(value) || language.indent.length > 2 ? `${open}${line}${close}` : `${open} ${line} ${close}`;
  }
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${margin}${close}`;
}
