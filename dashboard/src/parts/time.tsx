import { useEffect, useState, useSyncExternalStore } from 'react';
import { T } from '../english.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TICK_MS = 10 * SECOND;

let nowMs = Date.now();
const heard = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all times that are shown. */
function listen(hear: () => void): () => void {
  heard.add(hear);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const one of heard) one();
  }, TICK_MS);
  return () => {
    heard.delete(hear);
    if (heard.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function useNow(): number {
  return useSyncExternalStore(listen, () => nowMs);
}

/** The time of now, each second while `isOn`: for what is under way. */
export function useSeconds(isOn: boolean): number {
  const [ms, setMs] = useState(Date.now);
  useEffect(() => {
    if (!isOn) return;
    const ticking = setInterval(() => setMs(Date.now()), SECOND);
    return () => clearInterval(ticking);
  }, [isOn]);
  return ms;
}

function agoText(ms: number, now: number): string {
  const past = Math.max(0, now - ms);
  const { ago } = T.common;
  if (past < 10 * SECOND) return T.common.now;
  if (past < MINUTE) return `${Math.floor(past / SECOND)} ${ago.s}`;
  if (past < HOUR) return `${Math.floor(past / MINUTE)} ${ago.m}`;
  if (past < 2 * DAY) return `${Math.floor(past / HOUR)} ${ago.h}`;
  return `${Math.floor(past / DAY)} ${ago.d}`;
}

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const OF_THIS_YEAR = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
});

export const localText = (ms: number): string => LOCAL.format(ms);

/** Leaves out the year when it is this one. */
export function shortText(ms: number, now: number): string {
  const isThisYear = new Date(ms).getFullYear() === new Date(now).getFullYear();
  return isThisYear ? OF_THIS_YEAR.format(ms) : localText(ms);
}

const ISO = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Returns what the server says, with its times as all others are shown. */
export function inLocalTime(text: string): string {
  return text.replace(ISO, (iso) => shortText(Date.parse(iso), Date.now()));
}

/** How long ago; the local time and UTC when the pointer rests on it. */
export function Ago({ ms }: { ms: number }) {
  const now = useNow();
  const iso = new Date(ms).toISOString();
  return (
    <time dateTime={iso} title={`${localText(ms)}\n${iso}`} className="nowrap">
      {agoText(ms, now)}
    </time>
  );
}

/** The local time; UTC when the pointer rests on it. */
export function At({ ms }: { ms: number }) {
  const now = useNow();
  const iso = new Date(ms).toISOString();
  return (
    <time dateTime={iso} title={`${localText(ms)}\n${iso}`}>
      {shortText(ms, now)}
    </time>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});

/** The local time of a day, to the millisecond; the date and UTC when the pointer rests on it. */
export function Clock({ ms }: { ms: number }) {
  const iso = new Date(ms).toISOString();
  return (
    <time dateTime={iso} title={`${localText(ms)}\n${iso}`} className="soft nowrap">
      {CLOCK.format(ms)}
    </time>
  );
}
