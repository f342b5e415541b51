// The interfaces that a source's props declare: its triggers.

import { givenValue, type PropDefinitions, type PropValues } from '../../domain/props.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Schedule } from '../../domain/resource.ts';
import { type PropsPlace, refuse } from '../components/prop-checks.ts';
import { checkSchedule } from '../schedule/cron.ts';

export interface PlannedInterface {
  readonly prop: string;
  readonly kind: 'http' | 'schedule';
  readonly customResponse: boolean;
  readonly schedule: Schedule | null;
}

/** Throws `Refusal` (422) naming a timer without a schedule, or with an invalid one. */
export function plannedInterfaces(
  place: PropsPlace,
  { definitions, configured }: { definitions: PropDefinitions; configured: PropValues },
  nowMs: number,
): PlannedInterface[] {
  const interfaces: PlannedInterface[] = [];
  for (const [prop, definition] of Object.entries(definitions)) {
    if (definition.disabled === true) continue;
    if (definition.type === '$.interface.http') {
      interfaces.push({ prop, kind: 'http', customResponse: definition.customResponse === true, schedule: null });
    } else if (definition.type === '$.interface.timer') {
      const value = givenValue(definition, configured[prop]);
      const isLeftOut = value === undefined && (definition.optional === true || definition.hidden === true);
      if (isLeftOut) continue;
      const schedule = timerSchedule(place, prop, value);
      checkTimer(place, prop, { schedule, nowMs });
      interfaces.push({ prop, kind: 'schedule', customResponse: false, schedule });
    }
  }
  return interfaces;
}

function checkTimer(place: PropsPlace, prop: string, { schedule, nowMs }: { schedule: Schedule; nowMs: number }): void {
  try {
    checkSchedule(schedule, { nowMs, parameter: place.parameter });
  } catch (error) {
    if (error instanceof Refusal) refuse(place, prop, `timer "${prop}": ${error.message}`);
    throw error;
  }
}

function timerSchedule(place: PropsPlace, prop: string, value: unknown): Schedule {
  const given = (value ?? {}) as { intervalSeconds?: unknown; cron?: unknown; timezone?: unknown };
  const timezone = typeof given.timezone === 'string' ? given.timezone : 'UTC';
  if (typeof given.cron === 'string' && (given.intervalSeconds ?? null) !== null) {
    refuse(place, prop, `timer "${prop}" has both cron and intervalSeconds: give one of them`);
  }
  if (typeof given.cron === 'string') return { cron: given.cron, intervalMs: null, timezone };
  const { intervalSeconds } = given;
  if (typeof intervalSeconds === 'number' && intervalSeconds >= 1) {
    return { cron: null, intervalMs: Math.round(intervalSeconds * 1000), timezone };
  }
  return refuse(
    place,
    prop,
    `timer "${prop}" needs {"intervalSeconds": <at least 1>} or {"cron": "…"}; got ${JSON.stringify(value ?? null)}`,
  );
}
