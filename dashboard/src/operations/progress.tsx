import type { Operation, ReplayResult } from '../../../src/client/client.ts';
import { everyOf } from '../api/states.ts';
import { T } from '../english.ts';

export type Outcome = ReplayResult['outcome'];

/** In the order in which they stand in the bar. */
export const OUTCOMES = everyOf<Outcome>()([
  'fixed',
  'failed_same',
  'failed_differently',
  'under_way',
  'not_replayed',
  'replayed_before',
  'cancelled',
  'unknown',
]);

export const TONES: Readonly<Record<Outcome, string>> = {
  fixed: 'good',
  failed_same: 'bad',
  failed_differently: 'warn',
  under_way: 'accent',
  not_replayed: '',
  replayed_before: '',
  cancelled: '',
  unknown: '',
};

interface Part {
  readonly name: string;
  readonly tone: string;
  readonly count: number;
}

function partsOf({ replay, resent, passed_over: passed }: Operation): Part[] {
  const { resend, outcomes } = T.operations;
  const parts = replay
    ? OUTCOMES.map((one) => ({ name: outcomes[one], tone: TONES[one], count: replay[one] }))
    : [
        { name: resend.resent, tone: 'good', count: resent },
        { name: resend.passed, tone: '', count: passed },
      ];
  return parts.filter(({ count }) => count > 0);
}

/** How far an operation is, by what became of each. */
export function Progress({ operation }: { operation: Operation }) {
  const parts = partsOf(operation);
  const total = Math.max(operation.total ?? 0, ...parts.map(({ count }) => count), 1);
  const said = operation.total === null ? T.operations.counting : `${Math.round((operation.progress ?? 0) * 100)} %`;
  return (
    <div
      className="progress"
      role="progressbar"
      aria-label={T.operations.progress}
      aria-valuenow={Math.round((operation.progress ?? 0) * 100)}
      aria-valuetext={said}
    >
      {parts.map(({ name, tone, count }) => (
        <i key={name} className={tone} style={{ width: `${(count / total) * 100}%` }} title={`${name}: ${count}`} />
      ))}
    </div>
  );
}

/** What a screen reader is to say when an operation pauses, goes on or ends: not each number as it grows. */
export function inWords(operation: Operation): string {
  const { state } = operation;
  const parts = state === 'running' ? [] : partsOf(operation);
  return [T.states[state] ?? state, ...parts.map(({ name, count }) => `${name}: ${count.toLocaleString()}`)].join('. ');
}

/** The same in numbers. */
export function Numbers({ operation }: { operation: Operation }) {
  const { total } = operation;
  return (
    <dl className="numbers">
      <div>
        <dt>{T.operations.found}</dt>
        <dd>{total === null ? '…' : total.toLocaleString()}</dd>
      </div>
      {partsOf(operation).map(({ name, tone, count }) => (
        <div key={name}>
          <dt>
            <i className={`dot ${tone}`} /> {name}
          </dt>
          <dd>{count.toLocaleString()}</dd>
        </div>
      ))}
    </dl>
  );
}
