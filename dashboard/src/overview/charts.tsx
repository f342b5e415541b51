import { useQuery } from '@tanstack/react-query';
import type { StatsBucket } from '../../../src/client/client.ts';
import { statsQuery } from '../api/stats.ts';
import { T } from '../english.ts';
import { useChoice } from '../parts/address.ts';
import { Card } from '../parts/card.tsx';
import { Choice } from '../parts/choice.tsx';
import { CountChart } from '../parts/hours.tsx';
import { Unready } from '../parts/state.tsx';

const FIGURES = ['events', 'runs', 'errors', 'deliveries'] as const;
const SPANS = ['day', 'week'] as const;
const HOURS = { day: 24, week: 168 } as const;
/** Bars of a week are wider than an hour: so many would be hairs. */
const HOURS_PER_BAR = { day: 1, week: 6 } as const;

type Figure = (typeof FIGURES)[number];

/** Events, runs, errors and deliveries over time. */
export function Charts() {
  const [chosen, setSpan] = useChoice('span', SPANS);
  const span = chosen ?? 'day';
  const asked = useQuery(statsQuery(HOURS[span]));
  const { data: buckets, error } = asked;
  return (
    <Card
      title={T.overview.overTime}
      head={
        <>
          <span className="grow" />
          <Choice
            label={T.overview.howFar}
            options={SPANS}
            textOf={(one) => T.overview.spans[one]}
            value={span}
            choose={setSpan}
          />
        </>
      }
    >
      {!buckets && error ? (
        <Unready of={asked} />
      ) : (
        <div className="card-body charts" aria-busy={!buckets}>
          {FIGURES.map((figure) => (
            <Chart key={figure} figure={figure} buckets={buckets ?? null} perBar={HOURS_PER_BAR[span]} />
          ))}
        </div>
      )}
    </Card>
  );
}

interface ChartProps {
  readonly figure: Figure;
  /** Null while they are being loaded: the place of the chart is kept. */
  readonly buckets: readonly StatsBucket[] | null;
  readonly perBar: number;
}

function Chart({ figure, buckets: known, perBar }: ChartProps) {
  const buckets = known ?? [];
  const bars: { fromMs: number; count: number }[] = [];
  // From the newest on, so that the last bar is whole.
  for (let end = buckets.length; end > 0; end -= perBar) {
    const part = buckets.slice(Math.max(0, end - perBar), end);
    bars.unshift({ fromMs: part[0]?.from_ms ?? 0, count: part.reduce((all, one) => all + one[figure], 0) });
  }
  const total = bars.reduce((all, { count }) => all + count, 0);
  const name = {
    events: T.overview.emissions,
    runs: T.overview.runs,
    errors: T.overview.errors,
    deliveries: T.overview.deliveries,
  }[figure];
  return (
    <figure>
      <figcaption>
        <span className="soft">{name}</span> <strong>{known === null ? '…' : total.toLocaleString()}</strong>
      </figcaption>
      <CountChart
        bars={bars}
        label={known === null ? T.common.loading : T.overview.chartOf(name, total)}
        isBad={figure === 'errors'}
      />
    </figure>
  );
}
