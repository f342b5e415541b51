// The body of a channel's request as its owner writes it: text with placeholders such as {{title}}. In a template that is
// JSON, values are escaped for a JSON string, so that a message with quotes stays one; {{json}} is the whole notice as JSON.

import { NOTICE_LIMITS } from './limits.ts';
import { type Notice, titleOf } from './notice.ts';

const PLACEHOLDER = /\{\{\s*([A-Za-z_]+)\s*\}\}/g;

const VALUES: Readonly<Record<string, (notice: Notice) => string>> = {
  title: titleOf,
  kind: (notice) => notice.kind,
  group_id: (notice) => notice.group_id,
  emitter_id: (notice) => notice.emitter_id,
  name: (notice) => notice.name,
  code: (notice) => notice.code,
  message: (notice) => notice.message,
  step: (notice) => notice.step,
  line: (notice) => notice.line,
  cause: (notice) => notice.cause ?? '',
  count: (notice) => String(notice.count),
  more: (notice) => String(notice.more),
  groups: (notice) => String(notice.groups),
  first_seen: (notice) => notice.first_seen,
  last_seen: (notice) => notice.last_seen,
  event: (notice) => notice.event,
  link: (notice) => notice.link,
};

export const PLACEHOLDERS: readonly string[] = [...Object.keys(VALUES), 'json'];

/** Returns what is wrong with a template; null when it may be used. */
export function faultOfTemplate(template: string): string | null {
  const names = [...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  const unknown = names.find((name) => !PLACEHOLDERS.includes(name));
  if (unknown !== undefined) return `has no value for {{${unknown}}}; there are ${PLACEHOLDERS.join(', ')}`;
  if (names.length > NOTICE_LIMITS.templatePlaceholders)
    return `has ${names.length} placeholders, but at most ${NOTICE_LIMITS.templatePlaceholders} are taken`;
  // Outside a string, the text of an error could add members of its own, or end the JSON.
  const bare = isJsonTemplate(template) ? names.find((name) => isText(name) && !isJsonWith(template, name)) : undefined;
  return bare === undefined ? null : `has {{${bare}}}, which is text, outside a JSON string: write "{{${bare}}}"`;
}

/** Returns whether a template is JSON once its placeholders are filled in. */
export function isJsonTemplate(template: string): boolean {
  return isJsonWith(template, null);
}

/** Returns whether the values of a placeholder are texts, not numbers or JSON. */
function isText(name: string): boolean {
  return !['json', 'count', 'more', 'groups'].includes(name);
}

/** Returns whether a template is JSON when the value of the placeholder `text` is a word, and those of all others are numbers. */
function isJsonWith(template: string, text: string | null): boolean {
  const withValues = template.replace(PLACEHOLDER, (_, name: string) => {
    if (name === 'json') return '{}';
    return name === text ? 'word' : '0';
  });
  try {
    // A placeholder alone is text.
    return typeof JSON.parse(withValues) !== 'number';
  } catch {
    return false;
  }
}

export function filled(template: string, notice: Notice): string {
  const isJson = isJsonTemplate(template);
  return template.replace(PLACEHOLDER, (whole, name: string) => {
    if (name === 'json') return JSON.stringify(notice);
    const value = VALUES[name]?.(notice) ?? whole;
    return isJson ? JSON.stringify(value).slice(1, -1) : value;
  });
}
