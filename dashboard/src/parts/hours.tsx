// Counts by hour as bars: small in a row of a list, large on a page.

import type { GroupHour } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { useNow } from './time.tsx';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const WEEK_HOURS = 7 * DAY_HOURS;

/** Returns the counts of `bars` equal spans of the last `hours` hours, oldest first. */
export function spans(given: readonly GroupHour[], shape: { hours: number; bars: number; nowMs: number }): number[] {
  const { hours, bars, nowMs } = shape;
  const last = Math.floor(nowMs / HOUR_MS);
  const counts = new Array<number>(bars).fill(0);
  for (const { from_ms, count } of given) {
    const age = last - Math.floor(from_ms / HOUR_MS);
    if (age < 0 || age >= hours) continue;
    const at = bars - 1 - Math.floor((age * bars) / hours);
    counts[at] = (counts[at] ?? 0) + count;
  }
  return counts;
}

/** Returns what a chart shows, in words: all of it, and its highest bar. */
function inWords(label: string, counts: readonly number[], startOf: (at: number) => number): string {
  const most = Math.max(0, ...counts);
  if (most === 0) return `${label}: 0`;
  const all = counts.reduce((sum, count) => sum + count, 0);
  return T.common.chart({ label, all, most, from: HOUR.format(startOf(counts.indexOf(most))) });
}

interface Box {
  readonly width: number;
  readonly height: number;
  readonly gap: number;
}

function Bars({
  counts,
  width,
  height,
  gap,
  title,
}: Box & { counts: readonly number[]; title?: (at: number) => string }) {
  const most = Math.max(1, ...counts);
  const step = width / counts.length;
  return counts.map((count, at) => {
    const tall = count === 0 ? 0 : Math.max(2, (count / most) * (height - 2));
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
      <rect key={at} x={at * step} y={height - 1 - tall} width={Math.max(0.5, step - gap)} height={tall} rx="1">
        {title && <title>{title(at)}</title>}
      </rect>
    );
  });
}

export function Sparkline({ hours, label }: { hours: readonly GroupHour[]; label: string }) {
  const nowMs = useNow();
  const bars = 28;
  const counts = spans(hours, { hours: WEEK_HOURS, bars, nowMs });
  const startOf = (at: number): number =>
    (Math.floor(nowMs / HOUR_MS) + 1 - ((bars - at) * WEEK_HOURS) / bars) * HOUR_MS;
  return (
    <svg
      className="spark"
      viewBox="0 0 132 30"
      preserveAspectRatio="none"
      role="img"
      aria-label={inWords(label, counts, startOf)}
    >
      <line x1="0" y1="29.5" x2="132" y2="29.5" />
      <Bars counts={counts} width={132} height={30} gap={1.2} />
    </svg>
  );
}

const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric' });
const HOUR = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });

export function HourChart({ hours, label }: { hours: readonly GroupHour[]; label: string }) {
  const nowMs = useNow();
  const bars = WEEK_HOURS / 2;
  const counts = spans(hours, { hours: WEEK_HOURS, bars, nowMs });
  const most = Math.max(...counts);
  const startOf = (at: number): number => (Math.floor(nowMs / HOUR_MS) - (bars - 1 - at) * 2 - 1) * HOUR_MS;
  const days = Array.from({ length: 7 }, (_, day) => nowMs - (6 - day) * DAY_HOURS * HOUR_MS);
  return (
    <figure style={{ margin: 0 }}>
      <div className="chart-most" aria-hidden="true">
        {most.toLocaleString()}
      </div>
      <svg
        className="chart"
        viewBox="0 0 840 120"
        preserveAspectRatio="none"
        role="img"
        aria-label={inWords(label, counts, startOf)}
      >
        <line x1="0" y1="119.5" x2="840" y2="119.5" />
        <Bars
          counts={counts}
          width={840}
          height={120}
          gap={2}
          title={(at) => `${HOUR.format(startOf(at))}: ${counts[at]}`}
        />
      </svg>
      <figcaption className="chart-scale" aria-hidden="true">
        {days.map((day) => (
          <span key={day}>{DAY.format(day)}</span>
        ))}
      </figcaption>
    </figure>
  );
}

interface CountChartProps {
  readonly bars: readonly { readonly fromMs: number; readonly count: number }[];
  readonly label: string;
  readonly isBad: boolean;
}

/** Counts of equal times, oldest first. */
export function CountChart({ bars, label, isBad }: CountChartProps) {
  const first = bars[0];
  return (
    <>
      <svg
        className={isBad ? 'chart is-small' : 'chart is-small is-good'}
        viewBox="0 0 280 64"
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        <line x1="0" y1="63.5" x2="280" y2="63.5" />
        <Bars
          counts={bars.map(({ count }) => count)}
          width={280}
          height={64}
          gap={1.6}
          title={(at) => `${HOUR.format(bars[at]?.fromMs)}: ${bars[at]?.count.toLocaleString()}`}
        />
      </svg>
      <div className="chart-scale" aria-hidden="true">
        <span>{first ? HOUR.format(first.fromMs) : '\u00a0'}</span>
        <span>{first ? T.common.now : ''}</span>
      </div>
    </>
  );
}
