// A notice about a group of errors: the body of an emission called `$notice`, with one delivery to one channel. It has no
// secrets: what the channel needs to be reached is read when the delivery is attempted.

import { text, utf8 } from '../bytes.ts';
import { groupOfKey } from '../delivery/digest.ts';
import { EMAIL, type NewEmission, NOTICE, PLAIN_EMISSION } from '../emission.ts';
import { causesIn } from '../errors/causes.ts';
import { firstOwnFrame } from '../errors/fingerprint.ts';
import type { ErrorDetail } from '../failure.ts';
import { PREFIX, prefixOf } from '../ids.ts';
import { channelListener } from './listener.ts';

/**
 * `error`: the first one of a group that is new, or open again. `digest`: repeats within a window. `summary`: groups of one
 * emitter of which there are too many. `recovered`: the group was resolved.
 */
export const NOTICE_KINDS = ['error', 'digest', 'summary', 'recovered', 'test'] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** Why a group is resolved whose errors are not over: what failed was deleted or switched off, or a watch was taken out of its settings. */
export type Closing = 'deleted' | 'switched_off' | 'not_watched';

/** As it is sent by a channel of the kind `http`, too: the names are those of the interface. */
export interface Notice {
  readonly kind: NoticeKind;
  /** Names the incident at services that open and close one. */
  readonly group_id: string;
  /** The workflow, source or webhook that failed. */
  readonly emitter_id: string;
  readonly name: string;
  readonly code: string;
  readonly message: string;
  /** Empty: the error belongs to no step. */
  readonly step: string;
  /** The first own frame of the stack, or the first one of all; empty: it had none. */
  readonly line: string;
  /** What caused it, the nearest first; empty: nothing is known. Missing in what an earlier version wrote. */
  readonly cause?: string;
  /** Errors of the group in all. */
  readonly count: number;
  /** Errors since the notice before. */
  readonly more: number;
  /** How many groups it tells of: 1 but for a summary, which shows the newest of them. */
  readonly groups: number;
  /** What opened the group again: null: nothing did. */
  readonly reopened: string | null;
  /** Of a recovery: of how many of its errors the event has come through since, by replays or retries; null: of none. */
  readonly replayed: { readonly succeeded: number; readonly of: number } | null;
  /** Of a recovery: why the group was closed although nothing has recovered; null: it has. */
  readonly closed: Closing | null;
  readonly first_seen: string;
  readonly last_seen: string;
  /** Whether the event of the newest error can run again. */
  readonly replayable: boolean;
  /** The beginning of the original event, without headers of HTTP requests. Empty: none is known. */
  readonly event: string;
  /** Where to read of the group. */
  readonly link: string;
  /** What a mail says beside. Missing: nothing. */
  readonly note?: string;
}

/** Of a message. */
const SHOWN_CHARS = 2000;
const LINE_CHARS = 300;
const STACK_LINES = 10;

export interface NoticeAddress {
  readonly ownerId: string;
  readonly channelId: string;
  readonly groupId: string | null;
  /** Counts the notices of a group. */
  readonly sequence: number;
  /** The last error that the notice tells of. */
  readonly lastEntry: number;
  /** What led to the error: whose rules of redaction hold for the notice. */
  readonly lineage?: readonly string[];
  /** All groups that a summary tells of; null: it is none. */
  readonly folded: { readonly emitterId: string; readonly ids: readonly string[] } | null;
}

/** Returns the key of an emitter's summaries, which is that of a group for other notices. */
export const summaryKey = (emitterId: string): string => `${emitterId}-more`;

/** Returns what the number of each summary begins with whose newest group it is. */
export const summariesOf = (groupId: string): string => `${groupId} `;

/** Returns the emission of a notice. The owner emits it: a workflow's lists of what it emitted do not show it. */
export function noticeEmission(notice: Notice, to: NoticeAddress): NewEmission {
  const { ownerId, channelId, groupId, sequence, lastEntry, folded, lineage = [] } = to;
  return {
    ...PLAIN_EMISSION,
    ownerId,
    emitterId: ownerId,
    originId: ownerId,
    name: NOTICE,
    sourceType: 'API',
    body: utf8(JSON.stringify(notice)),
    lineage,
    onlyListenerId: channelListener(ownerId, channelId),
    digestKey: folded ? summaryKey(folded.emitterId) : groupId,
    itemId: folded ? `${summariesOf(groupId ?? '')}${sequence}` : String(sequence),
    itemTs: lastEntry,
    // By the groups that it names, a summary is found from their errors.
    summary: `${notice.kind} of ${folded ? folded.ids.join(' ') : notice.group_id}`,
  };
}

/** Returns the groups of errors that a mail or notice tells of; of a recovery, and of what is about no group, none. */
export function groupsToldBy({
  name,
  digestKey,
  summary,
}: Pick<NewEmission, 'name' | 'digestKey' | 'summary'>): readonly string[] {
  if (name === EMAIL) return [groupOfKey(digestKey ?? '')].filter(isGroup);
  const [kind, , ...ids] = name === NOTICE && summary !== null ? summary.split(' ') : [];
  return kind === 'recovered' || kind === 'test' ? [] : ids.filter(isGroup);
}

const isGroup = (id: string): boolean => id.startsWith(PREFIX.errorGroup);

export function readNotice(body: Uint8Array): Notice {
  return JSON.parse(text(body)) as Notice;
}

/** Returns the notice of many groups, made of that of the newest one. */
export function summaryOf(newest: Notice, { groups, errors }: { groups: number; errors: number }): Notice {
  const kind = 'summary';
  return {
    ...newest,
    kind,
    groups,
    count: errors,
    more: errors,
    reopened: null,
    group_id: summaryKey(newest.emitter_id),
  };
}

/** An error as notices and pages show it. */
export interface ShownError {
  readonly name: string;
  readonly message: string;
  readonly step: string;
  readonly line: string;
  readonly cause: string;
  /** The first frames; empty: it had none. */
  readonly stack: string;
  readonly event: string;
  /** The workflows, sources and webhooks whose events led to it. */
  readonly lineage: readonly string[];
  /** Why its event can never run again; null: it may. */
  readonly whyNoReplay: string | null;
}

/** Returns the part of what is shown that the error itself gives. */
export function sampleOf({
  context,
  error,
}: ErrorDetail): Omit<ShownError, 'name' | 'event' | 'lineage' | 'whyNoReplay'> & { name: string | null } {
  const { stack = '' } = error;
  const frames = stack.split('\n').filter((frame) => frame.trim() !== '');
  const line = firstOwnFrame(stack) || (frames[0] ?? '').trim();
  const shown = frames.slice(0, STACK_LINES).map((frame) => shortened(frame.trim(), LINE_CHARS));
  return {
    name: context.workflow_name ?? context.heartbeat_name ?? context.owner_name ?? null,
    message: shortened(error.msg, SHOWN_CHARS),
    step: error.namespace ?? '',
    line: shortened(line.replace(/^at /, ''), LINE_CHARS),
    cause: shortened(causesIn(stack).join(', caused by '), LINE_CHARS),
    stack: shown.join('\n'),
  };
}

/** Returns at most `chars` UTF-16 units, well formed, the cut marked by an ellipsis. */
export function shortened(whole: string, chars: number): string {
  const clean = whole.toWellFormed();
  if (clean.length <= chars) return clean;
  return `${clean.slice(0, chars - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Returns the title of a notice, in one line. */
export function titleOf(notice: Notice): string {
  const { kind, name, code, more, reopened } = notice;
  const first = notice.message.split('\n', 1)[0] ?? '';
  if (kind === 'test') return 'Test notice from Errand';
  if (kind === 'recovered') {
    const replayed = replayedText(notice);
    const ended = notice.closed ? `closed, since ${closedText(notice, notice.closed)}` : 'recovered';
    return oneLine(`${name} ${ended}${replayed === '' ? '' : ` (${replayed} replayed)`}: ${code} ${first}`);
  }
  if (kind === 'summary') {
    return oneLine(
      `${name}: ${notice.groups} more ${notice.groups === 1 ? 'group' : 'groups'} of errors, the newest ${code} ${first}`,
    );
  }
  if (kind === 'digest') return oneLine(`${name}: ${more} more ${code} ${first}`);
  return oneLine(`${name} failed${reopened === null ? '' : ' again'}: ${code} ${first}`);
}

const NOUNS: Readonly<Record<string, string>> = {
  [PREFIX.source]: 'source',
  [PREFIX.webhook]: 'webhook',
  [PREFIX.heartbeat]: 'heartbeat',
};

function closedText({ emitter_id }: Notice, closed: Closing): string {
  const noun = `the ${NOUNS[prefixOf(emitter_id)] ?? 'workflow'}`;
  if (closed === 'not_watched') return `${noun} is not watched for it any more`;
  return closed === 'deleted' ? `${noun} was deleted` : `${noun} was switched off`;
}

function replayedText({ replayed }: Notice): string {
  return replayed === null ? '' : `${replayed.succeeded} of ${replayed.of}`;
}

function oneLine(line: string): string {
  return line.replace(/\p{Cc}+/gu, ' ').trim();
}

/** Returns what is known of a notice as names and values, without the message and the event. */
export function factsOf(notice: Notice): readonly (readonly [name: string, value: string])[] {
  const { kind, step, line, cause = '', count, more, first_seen, last_seen, reopened } = notice;
  const often = kind === 'digest' ? `${count} (${more} since the last notice)` : String(count);
  const all: readonly (readonly [string, string])[] = [
    ['Code', notice.code],
    ['Cause', cause],
    ['Step', step],
    ['Line', line],
    ['Groups', kind === 'summary' ? String(notice.groups) : ''],
    ['Errors', often],
    ['First seen', first_seen],
    ['Last seen', last_seen],
    ['Open again', reopened ?? ''],
    ['Replayed', replayedText(notice)],
    ['Group', kind === 'summary' ? '' : notice.group_id],
  ];
  return all.filter(([, value]) => value.trim() !== '');
}
