import type { Trigger } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import type { Workflow } from '../api/types.ts';
import { T } from '../english.ts';
import { CopyButton } from '../parts/copy.tsx';
import { durationText } from '../parts/duration.ts';

/** A workflow's own triggers. Errors that others forward to it are no trigger: they stand in "Listens to". */
export function Triggers({ workflow: { triggers = [] } }: { workflow: Workflow }) {
  return (
    <section className="card">
      <div className="card-head">
        <h2>{T.workflows.triggers}</h2>
      </div>
      {triggers.length === 0 && <p className="card-body soft">{T.workflows.noTriggers}</p>}
      <ul className="rows">
        {triggers.map((trigger) => (
          <TriggerRow key={trigger.id} trigger={trigger} />
        ))}
      </ul>
    </section>
  );
}

function TriggerRow({ trigger }: { trigger: Trigger }) {
  const names = useNames();
  const { type, endpoint_url: url, cron, interval_seconds: seconds, timezone } = trigger;
  const from = trigger.source_id ?? trigger.emitter_id;
  const says =
    cron ??
    (seconds === undefined ? undefined : T.workflows.every(durationText(seconds * 1000))) ??
    (from && names(from));
  return (
    <li>
      <div className="grow">
        <div>{T.workflows.triggerTypes[type] ?? type}</div>
        {url && <code className="soft break">{url}</code>}
        {says && (
          <div className="soft cut">
            <bdi>{says}</bdi> {timezone}
          </div>
        )}
      </div>
      {url && <CopyButton text={url} />}
    </li>
  );
}
