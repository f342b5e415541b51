// A result as text.

import type { Kill } from './kills.ts';
import type { Result } from './setting.ts';

export function textOf(name: string, result: Result): string {
  const { lost, wrong, counts, notes, kills, statuses, complaints, settledMs } = result;
  const answers = [...statuses].map(([status, n]) => `${status || 'no answer'}: ${n}`).join(', ');
  const lines = [
    `${name}: ${lost.count === 0 && wrong.count === 0 ? 'nothing lost' : 'FAILED'}`,
    ...Object.entries(counts).map(([what, n]) => `  ${what.replaceAll('_', ' ').padEnd(32)} ${String(n).padStart(8)}`),
    `  answers: ${answers}; at rest ${settledMs} ms after the last event`,
    ...kills.map(killText),
    ...notes.map((note) => `  ${note}`),
    ...[...complaints].map(([about, n]) => `  logged ${n} ×: ${about}`),
    ...lost.lines.map((line) => `  LOST ${line}`),
    ...wrong.lines.map((line) => `  WRONG ${line}`),
  ];
  return lines.join('\n');
}

function killText({ phase, afterReadyMs, afterSpawnMs, accepted, rescued }: Kill): string {
  const when =
    afterReadyMs === null ? `${afterSpawnMs} ms after the spawn, not listening yet` : `${afterReadyMs} ms up`;
  return `  kill ${phase.padEnd(6)} ${when}, ${accepted} accepted; the next start took over ${rescued.runs} runs, ${rescued.deliveries} deliveries`;
}

export function isSound({ lost, wrong }: Result): boolean {
  return lost.count === 0 && wrong.count === 0;
}
