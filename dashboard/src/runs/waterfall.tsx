import { useState } from 'react';
import type { RunWhole, StepResult } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { JsonTree } from '../parts/json-tree.tsx';
import { Badge } from '../parts/state.tsx';
import { durationText } from '../parts/text/duration.ts';

/** Steps as bars over the time of the run; a step opens to what it returned and exported. */
export function Waterfall({ run: { state, steps, started_at_ms: startedAtMs } }: { run: RunWhole }) {
  const from = startedAtMs ?? steps[0]?.started_at_ms ?? 0;
  const ends = steps.map(({ started_at_ms, took_ms }) => (started_at_ms ?? from) + (took_ms ?? 0) - from);
  const whole = Math.max(1, ...ends);
  return (
    <section className="card">
      <div className="card-head">
        <h2>{T.runs.waterfall}</h2>
      </div>
      {steps.length === 0 && <p className="card-body soft">{state === 'running' ? T.runs.later : T.runs.noSteps}</p>}
      {steps.map((step) => (
        <Step key={step.id + String(step.started_at_ms)} step={step} from={from} whole={whole} />
      ))}
    </section>
  );
}

function Step({ step, from, whole }: { step: StepResult; from: number; whole: number }) {
  const [isOpen, setOpen] = useState(false);
  const { namespace, state, started_at_ms: startedAtMs, took_ms: tookMs, exports: exported = {} } = step;
  const left = (((startedAtMs ?? from) - from) / whole) * 100;
  const width = Math.max(0.6, ((tookMs ?? 0) / whole) * 100);
  return (
    <details className="fall" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="fall-name cut mono">{namespace}</span>
        <span className="fall-track">
          <i
            className={state === 'failed' ? 'bad' : undefined}
            style={{ left: `min(${left}%, 100% - 3px)`, width: `${width}%` }}
          />
        </span>
        <span className="fall-took soft">{tookMs === null ? '' : durationText(tookMs)}</span>
        <Badge state={state} />
      </summary>
      {isOpen && (
        <div className="fall-body">
          <h3>{T.runs.returned}</h3>
          <JsonTree value={step.return_value ?? null} />
          {Object.keys(exported).length > 0 && (
            <>
              <h3>{T.runs.exports}</h3>
              <JsonTree value={exported} />
            </>
          )}
        </div>
      )}
    </details>
  );
}
