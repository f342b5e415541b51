// Reads the triggers of exported workflows.

import type { ImportedTrigger } from './imported.ts';
import { type Members, membersOf, textOf } from './values.ts';

/** What a trigger is of which the file has no more than its id. */
const BY_HAND: Readonly<Record<string, string>> = {
  ti_: 'is a schedule, and the file does not say when it is due: give it to the workflow here',
  ei_: 'is an address of mail: there is none here',
};

export function readTrigger(
  trigger: Members,
  { notes, answers }: { readonly notes: string[]; readonly answers: boolean },
): ImportedTrigger[] {
  const id = textOf(trigger.id) ?? '';
  const timer = membersOf(trigger.timer ?? membersOf(trigger.props).cron ?? trigger.props ?? trigger);
  const cron = textOf(timer.cron) ?? textOf(timer.cron_expression) ?? textOf(trigger.cron);
  const seconds = timer.interval_seconds ?? timer.intervalSeconds ?? trigger.interval_seconds;
  const timezone = textOf(timer.timezone) ?? textOf(trigger.timezone);
  const zone = timezone === undefined ? {} : { timezone };
  if (cron !== undefined) return [{ type: 'schedule', cron, ...zone }];
  if (typeof seconds === 'number') return [{ type: 'schedule', interval_seconds: seconds, ...zone }];
  if (id.startsWith('hi_') || textOf(trigger.endpoint_url) !== undefined) {
    const isCustom = trigger.custom_response ?? membersOf(trigger.props).customResponse ?? answers;
    return [{ type: 'http', ...(isCustom === true ? { custom_response: true } : {}) }];
  }
  const key = textOf(trigger.uses) ?? textOf(trigger.component_key) ?? textOf(trigger.key);
  const what = BY_HAND[id.slice(0, 3)] ?? 'is a source: deploy it here, and subscribe the workflow to it';
  notes.push(`the trigger ${id || key || JSON.stringify(trigger)} ${what}`);
  return [];
}
