// What the store returns of the log, as it is shown: redacted.

import { concat, text, utf8 } from '../../domain/bytes.ts';
import type { Attempt } from '../../domain/delivery/delivery.ts';
import { type Emission, ERRORS } from '../../domain/emission.ts';
import type { ErrorGroup } from '../../domain/errors/group.ts';
import { elementsOf, memberOf, membersOf } from '../../domain/json-member.ts';
import type { Redactor } from '../../domain/privacy/redactor.ts';
import type { StateValue } from '../../domain/run/source-state.ts';
import type {
  DeliveryRecord,
  DeliveryWhole,
  EmissionRecord,
  ListedRun,
  Receipt,
  RunWhole,
} from '../../store/contract/records.ts';
import type { Memory } from '../../store/contract/resources.ts';
import type { LoggedRecord } from '../../store/contract/streams.ts';

type Hides = Redactor | null;

const orNull = <T>(value: T | null, shown: (value: T) => T): T | null => (value === null ? null : shown(value));

/** Judges a value by its name, too: a member of an object is what rules are about. */
export function shownValue(given: StateValue, hides: Hides): StateValue {
  const { name, value } = given;
  if (!hides || name === null) return given;
  const [[, shown] = []] = value === null ? [] : membersOf(hides.json(utf8(`{${JSON.stringify(name)}:${value}}`)));
  return { ...given, name: hides.text(name), value: shown ? text(shown) : null };
}

export function shownMemory(memory: Memory, hides: Hides): Memory {
  if (!hides) return memory;
  const db = memory.db.map(({ name, value }) => {
    const shown = shownValue({ name, value, chars: value.length }, hides);
    return { name: shown.name ?? '', value: shown.value ?? 'null' };
  });
  return { db, seenIds: memory.seenIds.map((id) => hides.text(id)) };
}

interface EmissionBody {
  readonly name: string;
  readonly body: Uint8Array | null;
  readonly summary: string | null;
}

export function shownRecord<T extends EmissionRecord>(record: T, hides: Hides): T {
  if (!hides) return record;
  return { ...record, ...shownParts(record, hides), itemId: orNull(record.itemId, (id) => hides.text(id)) };
}

export function shownLogged(record: LoggedRecord, hides: Hides): LoggedRecord {
  if (!hides) return record;
  const { original, ...shown } = { ...shownRecord(record, hides) };
  if (record.name !== ERRORS || record.body === null) return { ...shown, original };
  const whole = shownError(record.body, record.original, hides);
  return { ...shown, ...whole };
}

export function shownEmission(emission: Emission, hides: Hides): Emission {
  if (!hides) return emission;
  const { originalStart: start, originalLength: length } = emission;
  const said = (given: string | null): string | null => orNull(given, (value) => hides.text(value));
  const [summary, itemId] = [said(emission.summary), said(emission.itemId)];
  if (emission.name !== ERRORS || start === null || length === null) {
    const body = hides.json(emission.body);
    return { ...emission, summary, itemId, body, ...redacted(body, emission.body) };
  }
  const { body, original } = shownError(emission.body, { start, length }, hides);
  return {
    ...emission,
    summary,
    itemId,
    body,
    originalStart: original?.start ?? start,
    originalLength: original?.length ?? null,
    ...redacted(body, emission.body),
  };
}

const redacted = (shown: Uint8Array, stored: Uint8Array): Pick<Emission, 'isRedacted'> =>
  Buffer.compare(shown, stored) === 0 ? {} : { isRedacted: true };

function shownParts({ name, body, summary }: EmissionBody, hides: Redactor) {
  return {
    summary: orNull(summary, (given) => hides.text(given)),
    body: orNull(body, (bytes) => (name === ERRORS ? shownError(bytes, null, hides).body : hides.json(bytes))),
  };
}

export interface ShownError {
  readonly body: Uint8Array;
  readonly original: { readonly start: number; readonly length: number } | null;
}

/**
 * Redacts the body of an error: the original event by all rules, of the error what its code said. Context, code and step stay:
 * they are of the platform, or names that the owner gave.
 */
export function shownError(body: Uint8Array, at: ShownError['original'], hides: Redactor): ShownError {
  const original = at ? body.subarray(at.start, at.start + at.length) : memberOf(body, 'original_event');
  if (!original) return { body: hides.json(body), original: at };
  const start = original.byteOffset - body.byteOffset;
  const event = hides.json(original);
  const tail = text(body.subarray(start + original.byteLength));
  const { error } = JSON.parse(`{${tail.slice(1)}`) as { error: Record<string, unknown> };
  const shown = utf8(JSON.stringify(shownFault(error, hides)));
  const given = memberOf(utf8(`{${tail.slice(1)}`), 'error');
  const before = given ? tail.slice(0, tail.lastIndexOf(text(given))) : tail;
  const whole = concat([body.subarray(0, start), event, utf8(before), shown, utf8('}')]);
  return { body: whole, original: { start, length: event.byteLength } };
}

/** Redacts an error. `error`: the `error` object of an error's body. */
function shownFault(error: Record<string, unknown>, hides: Redactor): Record<string, unknown> {
  const shown = { ...error };
  for (const name of ['msg', 'stack']) {
    const value = error[name];
    if (typeof value === 'string') shown[name] = hides.text(value);
  }
  if (error.context !== undefined) shown.context = JSON.parse(text(hides.json(utf8(JSON.stringify(error.context)))));
  return shown;
}

export function shownRun<T extends ListedRun>(run: T, hides: Hides): T {
  if (!hides) return run;
  const hidden = (value: string | null): string | null => orNull(value, (given) => hides.text(given));
  return { ...run, summary: hidden(run.summary), errorMessage: hidden(run.errorMessage) };
}

/**
 * Redacts the detail of a run, JSON text: what its code returned, exported and printed. Times, states and names of steps stay.
 * All of it is redacted as one text, so that what is spent on it is bounded.
 */
export function shownDetail(detail: string | null, hides: Redactor): string | null {
  if (detail === null) return null;
  const said: string[] = [];
  const split = (json: Uint8Array, isSaid: (name: string) => boolean): string[] =>
    membersOf(json).map(([name, value]) => {
      if (isSaid(name)) said.push(text(value));
      return `${JSON.stringify(name)}:${isSaid(name) ? GAP : text(value)}`;
    });
  const each = (list: Uint8Array, isSaid: (name: string) => boolean): string =>
    `[${elementsOf(list)
      .map((one) => `{${split(one, isSaid).join(',')}}`)
      .join(',')}]`;
  const parts = membersOf(utf8(detail)).map(([name, value]) => {
    if (name === 'steps') return `"steps":${each(value, (member) => SAID_BY_STEPS.has(member))}`;
    if (name === 'logs') return `"logs":${each(value, (member) => member === 'text')}`;
    if (name !== 'exit_reason') return `${JSON.stringify(name)}:${text(value)}`;
    said.push(text(value));
    return `"exit_reason":${GAP}`;
  });
  return filled(`{${parts.join(',')}}`, elementsOf(hides.json(utf8(`[${said.join(',')}]`))));
}

const SAID_BY_STEPS: ReadonlySet<string> = new Set(['return_value', 'exports', 'resume_data']);
/** Stands for what is redacted apart: no JSON text has it. */
const GAP = '\u0000';

function filled(template: string, values: readonly Uint8Array[]): string {
  const between = template.split(GAP);
  return between.map((part, i) => part + (i < values.length ? text(values[i] as Uint8Array) : '')).join('');
}

export function shownWhole(run: RunWhole, hides: Hides): RunWhole {
  if (!hides) return run;
  const error = run.errorBody && (JSON.parse(text(run.errorBody)) as Record<string, unknown>);
  return {
    ...shownRun(run, hides),
    event: run.eventName === ERRORS ? shownError(run.event, null, hides).body : hides.json(run.event),
    detail: shownDetail(run.detail, hides),
    errorBody: error && utf8(JSON.stringify(shownFault(error, hides))),
    causeSummary: orNull(run.causeSummary, (given) => hides.text(given)),
    causes: run.causes.map((receipt) => shownReceipt(receipt, hides)),
  };
}

/** Redacts the reason, in which a mail server may quote the mail. */
export function shownReceipt(receipt: Receipt, hides: Redactor): Receipt {
  return { ...receipt, reason: orNull(receipt.reason, (given) => hides.text(given)) };
}

export function shownDelivery(whole: DeliveryWhole, hides: Hides): DeliveryWhole {
  if (!hides) return whole;
  return {
    ...whole,
    record: shownDeliveryRecord(whole.record, hides),
    attempts: whole.attempts.map((attempt) => shownAttempt(attempt, hides)),
  };
}

/** Redacts the subject of a mail. The last word of one that was cut goes, too: it may be the beginning of what is hidden. */
export function shownDeliveryRecord(record: DeliveryRecord, hides: Hides): DeliveryRecord {
  if (!hides || record.subject === null) return record;
  return { ...record, subject: hides.text(record.subject.replace(/\S*…$/, '…')) };
}

/** Redacts what the receiver answered. */
export function shownAttempt<T extends Attempt>(attempt: T, hides: Redactor): T {
  return {
    ...attempt,
    responseBody: hides.text(attempt.responseBody),
    detail: hides.text(attempt.detail),
    responseHeaders: JSON.parse(
      text(hides.json(utf8(JSON.stringify(attempt.responseHeaders)))),
    ) as T['responseHeaders'],
  };
}

export function shownGroup(group: ErrorGroup, hides: Hides): ErrorGroup {
  if (!hides) return group;
  const { template, frame } = group.fingerprint;
  return { ...group, fingerprint: { ...group.fingerprint, template: hides.text(template), frame: hides.text(frame) } };
}
