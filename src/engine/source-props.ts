// What a component asks for, held against what was configured. Names the prop in everything that it refuses.

import { Refusal } from '../domain/fault.ts';
import type { Schedule } from '../domain/resource.ts';
import type { ComponentShape } from '../runner/runner.ts';
import { hasInlineAuth, whyNotApp, whyNotDataStore } from './references.ts';
import { checkSchedule } from './schedule.ts';

interface PropDefinition {
  readonly type?: string;
  readonly optional?: boolean;
  /** Nobody is told its value, not even who has just sent it: answers end in logs. */
  readonly secret?: boolean;
  readonly default?: unknown;
  readonly min?: number;
  readonly max?: number;
  readonly customResponse?: boolean;
  readonly static?: unknown;
}

export interface PlannedInterface {
  readonly prop: string;
  readonly kind: 'http' | 'schedule';
  readonly customResponse: boolean;
  readonly schedule: Schedule | null;
}

const JSON_TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  any: () => true,
};

const LATER = ['http_request', 'alert', 'dir', 'sql'];

/** The interfaces that the source needs. Throws `Refusal` (422) naming the prop that is missing, wrong or not supported. */
export function checkProps(
  shape: ComponentShape,
  configured: Readonly<Record<string, unknown>>,
  nowMs: number,
): PlannedInterface[] {
  const interfaces: PlannedInterface[] = [];
  for (const [prop, raw] of Object.entries(shape.props)) {
    const definition = raw as PropDefinition;
    const type = definition.type ?? 'any';
    if (type === '$.interface.http') {
      interfaces.push({ prop, kind: 'http', customResponse: definition.customResponse === true, schedule: null });
    } else if (type === '$.interface.timer') {
      const schedule = timerSchedule(prop, configured[prop] ?? definition.default ?? definition.static);
      checkTimer(prop, schedule, nowMs);
      interfaces.push({ prop, kind: 'schedule', customResponse: false, schedule });
    } else if (type === 'app') {
      checkApp(prop, configured[prop]);
    } else if (type === 'data_store') {
      checkDataStore(prop, definition, configured[prop]);
    } else if (type !== '$.service.db') {
      checkValue(prop, definition, configured[prop] ?? definition.default);
    }
  }
  for (const prop of Object.keys(configured)) {
    if (!(prop in shape.props)) refuse(prop, `the component has no prop "${prop}"`);
  }
  return interfaces;
}

function checkValue(prop: string, definition: PropDefinition, value: unknown): void {
  const type = definition.type ?? 'any';
  if (type === '$.interface.apphook')
    refuse(prop, `prop "${prop}" is an $.interface.apphook, which needs the app's vendor: it cannot run here`);
  if (LATER.includes(type)) refuse(prop, `prop "${prop}" has type ${type}, which this version does not provide yet`);
  if (value === undefined || value === null) {
    if (definition.optional !== true) refuse(prop, `prop "${prop}" (${type}) is required and was not configured`);
    return;
  }
  const isList = type.endsWith('[]');
  const check = JSON_TYPES[isList ? type.slice(0, -2) : type];
  if (!check) refuse(prop, `prop "${prop}" has type ${type}, which is not known`);
  const isRight = isList ? Array.isArray(value) && value.every(check) : check(value);
  const shown = definition.secret || hasInlineAuth(value) ? 'a secret' : JSON.stringify(value);
  if (!isRight) refuse(prop, `prop "${prop}" is ${shown}; a value of type ${type} is needed`);
  const { min, max } = definition;
  if (type !== 'integer' || typeof value !== 'number') return;
  if (min !== undefined && value < min) refuse(prop, `prop "${prop}" is ${shown}; at least ${min} is needed`);
  if (max !== undefined && value > max) refuse(prop, `prop "${prop}" is ${shown}; at most ${max} is allowed`);
}

/** An app that asks for no account needs none, and nobody but its code knows. */
function checkApp(prop: string, value: unknown): void {
  const wrong = value === undefined || value === null ? null : whyNotApp(value);
  if (wrong !== null) refuse(prop, `prop "${prop}" is an app: ${wrong}`);
}

function checkDataStore(prop: string, definition: PropDefinition, value: unknown): void {
  if ((value === undefined || value === null) && definition.optional === true) return;
  const wrong = whyNotDataStore(value);
  if (wrong !== null) refuse(prop, `prop "${prop}" is a data_store: ${wrong}`);
}

function checkTimer(prop: string, schedule: Schedule, nowMs: number): void {
  try {
    checkSchedule(schedule, nowMs);
  } catch (error) {
    if (error instanceof Refusal) refuse(prop, `timer "${prop}": ${error.message}`);
    throw error;
  }
}

function timerSchedule(prop: string, value: unknown): Schedule {
  const given = (value ?? {}) as { intervalSeconds?: unknown; cron?: unknown; timezone?: unknown };
  const timezone = typeof given.timezone === 'string' ? given.timezone : 'UTC';
  if (typeof given.cron === 'string') return { cron: given.cron, intervalMs: null, timezone };
  const { intervalSeconds } = given;
  if (typeof intervalSeconds === 'number' && intervalSeconds >= 1) {
    return { cron: null, intervalMs: Math.round(intervalSeconds * 1000), timezone };
  }
  return refuse(
    prop,
    `timer "${prop}" needs {"intervalSeconds": <at least 1>} or {"cron": "…"}; got ${JSON.stringify(value ?? null)}`,
  );
}

function refuse(prop: string, message: string): never {
  throw new Refusal('impossible', message, { errors: [{ parameter: `configured_props.${prop}`, message }] });
}
