// What a workflow is watched for: in its settings, with the state of each watch, and as fields of their form.

import { useQuery } from '@tanstack/react-query';
import type { Settings, Watch } from '../../../src/client/client.ts';
import type { Workflow } from '../api/types.ts';
import { watchesQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { Fact } from '../parts/card.tsx';
import { NumberField } from '../parts/fields.tsx';
import { Badge } from '../parts/state.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Ago } from '../parts/time.tsx';
import { perOne, times } from './units.ts';

const words = T.watch;
const MINUTE_MS = 60_000;
const [MAX_MINUTES, MAX_WINDOW_MINUTES] = [366 * 1440, 7 * 1440];

/** Lines of a list of facts. */
export function WatchFacts({ workflow: { id, active, settings } }: { workflow: Workflow }) {
  const { watch } = settings;
  // Saved in another way, or another state: other watches.
  const { data: states } = useQuery(watchesQuery(id, watch && JSON.stringify([active, watch])));
  const stateOf = (setting: Watch['setting']) =>
    active ? <State of={states?.find((one) => one.setting === setting)} /> : <span className="soft">{words.off}</span>;
  const { silent_after_ms: silent, succeeded_within_ms: success, error_ratio: ratio } = watch ?? {};
  return (
    <>
      <Fact name={words.silent}>
        {silent ? durationText(silent) : T.workflowSettings.none} {silent && stateOf('silent_after_ms')}
      </Fact>
      {success && (
        <Fact name={words.success}>
          {durationText(success)} {stateOf('succeeded_within_ms')}
        </Fact>
      )}
      {ratio ? (
        <>
          <dt className="is-whole">{words.ratio}</dt>
          <dd className="is-whole">
            {words.failed(percentOf(ratio.over), ratio.of_at_least, durationText(ratio.window_ms))}{' '}
            {stateOf('error_ratio')}
          </dd>
        </>
      ) : (
        <Fact name={words.ratio}>{T.workflowSettings.none}</Fact>
      )}
    </>
  );
}

function State({ of }: { of: Watch | undefined }) {
  if (!of) return null;
  return (
    <>
      <Badge state={of.status} text={words.states[of.status]} />{' '}
      {of.down_since_ms !== null && (
        <span className="soft">
          {words.since} <Ago ms={of.down_since_ms} />
        </span>
      )}
    </>
  );
}

export interface WatchNumbers {
  readonly silent: number | null;
  readonly success: number | null;
  readonly percent: number | null;
  readonly runs: number | null;
  readonly minutes: number | null;
}

export function watchNumbers(watch: Settings['watch']): WatchNumbers {
  const ratio = watch?.error_ratio;
  return {
    silent: perOne(watch?.silent_after_ms, MINUTE_MS),
    success: perOne(watch?.succeeded_within_ms, MINUTE_MS),
    percent: ratio ? percentOf(ratio.over) : null,
    runs: ratio?.of_at_least ?? null,
    minutes: perOne(ratio?.window_ms, MINUTE_MS),
  };
}

/** Without the digits that a multiplication by 100 adds. */
function percentOf(share: number): number {
  return Number((share * 100).toPrecision(12));
}

/** Returns the setting. Nothing is watched: null. */
export function watchOf({ silent, success, percent, runs, minutes }: WatchNumbers): Settings['watch'] {
  const windowMs = times(minutes, MINUTE_MS);
  const isRatio = percent !== null && runs !== null && windowMs !== null;
  const watch = {
    silent_after_ms: times(silent, MINUTE_MS),
    succeeded_within_ms: times(success, MINUTE_MS),
    error_ratio: isRatio ? { over: percent / 100, of_at_least: runs, window_ms: windowMs } : null,
  };
  return Object.values(watch).every((one) => one === null) ? null : watch;
}

interface WatchFieldsProps {
  readonly numbers: WatchNumbers;
  readonly set: (numbers: WatchNumbers) => void;
}

export function WatchFields({ numbers, set }: WatchFieldsProps) {
  const field = (of: keyof WatchNumbers) => ({
    value: numbers[of],
    set: (value: number | null) => set({ ...numbers, [of]: value }),
  });
  const time = { min: 1, max: MAX_MINUTES, step: 'any' } as const;
  return (
    <>
      <NumberField label={words.silentField} hint={words.silentHint} {...time} {...field('silent')} />
      <NumberField label={words.successField} hint={words.successHint} {...time} {...field('success')} />
      <fieldset className="field is-group">
        <legend>{words.ratioField}</legend>
        <NumberField label={words.percent} min={0} max={99} step="any" {...field('percent')} />
        <NumberField label={words.runs} min={1} max={1_000_000} {...field('runs')} />
        <NumberField
          label={words.minutes}
          hint={words.ratioHint}
          {...time}
          max={MAX_WINDOW_MINUTES}
          {...field('minutes')}
        />
      </fieldset>
    </>
  );
}
