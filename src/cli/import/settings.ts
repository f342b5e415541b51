// Reads the settings of exported workflows. What is not read becomes a note.

import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import type { ImportedSettings } from './imported.ts';
import { type Members, membersOf } from './values.ts';

const OF_WORKFLOW = new Set(['id', 'schema', 'name', 'inactive', 'active', 'settings', 'triggers', 'steps']);
const OF_STEP = new Set(
  (
    'id namespace name type disabled lang runtime uses path code props configured_props configured_props_json notes savedComponent component ' +
    'component_key component_owner_id code_raw code_raw_alt codeRaw codeRaw_alt text_raw appConnections params_json flat_params_visited_json'
  ).split(' '),
);

export function readSettings(whole: Members, notes: string[]): ImportedSettings {
  const { name: _, lambda_timeout: seconds, error_notification: isTold, ...others } = membersOf(whole.settings);
  const unread = { ...unknownOf(whole, OF_WORKFLOW), ...others };
  const isTimed = typeof seconds === 'number';
  if (!isTimed && seconds !== undefined) unread.lambda_timeout = seconds;
  if (typeof isTold !== 'boolean' && isTold !== undefined) unread.error_notification = isTold;
  noteUnread(unread, 'settings', notes);
  return {
    ...(isTimed ? { timeout_ms: limitOf(seconds, notes) } : {}),
    ...(isTold === false ? { notify: false as const } : {}),
  };
}

/** Notes the members of a step that are not read. */
export function noteMembers(step: Members, namespace: string, notes: string[]): void {
  noteUnread(unknownOf(step, OF_STEP), `members of the step ${namespace}`, notes);
}

function limitOf(seconds: number, notes: string[]): number {
  const timeoutMs = seconds * SECOND_MS;
  if (timeoutMs <= LIMITS.maxTimeoutMs) return timeoutMs;
  notes.push(`its time limit of ${seconds} s is cut to ${LIMITS.maxTimeoutMs / SECOND_MS} s, the longest here`);
  return LIMITS.maxTimeoutMs;
}

/** Names with an underscore first are its editor's. */
function unknownOf(members: Members, known: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !known.has(name) && !name.startsWith('_')));
}

/** Notes what is not read, with values that cannot be secrets. */
function noteUnread(unread: Members, what: string, notes: string[]): void {
  const shown = Object.entries(unread)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => (['number', 'boolean'].includes(typeof value) ? `${name}: ${value}` : name));
  if (shown.length > 0) notes.push(`${what} that are not read: ${shown.join(', ')}`);
}
