import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Trigger } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import type { ReadWorkflow } from '../api/workflows.ts';
import { T } from '../english.ts';
import { CopyButton } from '../parts/copy.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Foreign } from '../parts/text/foreign.tsx';
import { RemoveTrigger, TriggerForm } from './trigger-form.tsx';

/** Triggers of other kinds have nothing that a person could change. */
const CHANGEABLE = ['http', 'schedule'];

interface TriggersProps {
  readonly workflow: ReadWorkflow;
  readonly canWrite: boolean;
}

/** A workflow's own triggers. Errors that others forward to it are no trigger: they stand in "Listens to". */
export function Triggers({ workflow, canWrite }: TriggersProps) {
  const { triggers = [] } = workflow;
  const [isAdding, setAdding] = useState(false);
  return (
    <section className="card" aria-label={T.workflows.triggers}>
      <div className="card-head">
        <h2>{T.workflows.triggers}</h2>
        {canWrite && (
          <>
            <span className="grow" />
            <Button size="compact-sm" variant="default" onClick={() => setAdding(true)}>
              {T.triggers.add}
            </Button>
          </>
        )}
      </div>
      {triggers.length === 0 && <p className="card-body soft">{T.workflows.noTriggers}</p>}
      <ul className="rows">
        {triggers.map((trigger) => (
          <TriggerRow key={trigger.id} trigger={trigger} workflow={workflow} canWrite={canWrite} />
        ))}
      </ul>
      {isAdding && <TriggerForm workflow={workflow} close={() => setAdding(false)} />}
    </section>
  );
}

function TriggerRow({ trigger, workflow, canWrite }: TriggersProps & { trigger: Trigger }) {
  const [asks, setAsks] = useState<'change' | 'remove' | null>(null);
  const names = useNames();
  const { type, endpoint_url: url, cron, interval_seconds: seconds, timezone } = trigger;
  const from = trigger.source_id ?? trigger.emitter_id;
  const says =
    cron ??
    (seconds === undefined ? undefined : T.workflows.every(durationText(seconds * 1000))) ??
    (from && names(from));
  const kind = T.workflows.triggerTypes[type] ?? type;
  const close = (): void => setAsks(null);
  return (
    <li style={{ flexWrap: 'wrap' }}>
      <div className="grow" style={{ flexBasis: '100%' }}>
        <div>{kind}</div>
        {url && <code className="soft break">{url}</code>}
        {says && (
          <div className="soft cut">
            <Foreign>{says}</Foreign> {timezone}
          </div>
        )}
        {trigger.custom_response && <div className="soft">{T.triggers.response}</div>}
        {trigger.auth?.type === 'bearer' && <div className="soft">{T.triggers.bearer}</div>}
      </div>
      <div className="buttons">
        {url && <CopyButton text={url} of={url} />}
        {canWrite && CHANGEABLE.includes(type) && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={T.triggers.changeOf(kind, says ?? url ?? '')}
            onClick={() => setAsks('change')}
          >
            {T.triggers.edit}
          </Button>
        )}
        {canWrite && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={T.triggers.removeOf(kind, says ?? url ?? '')}
            onClick={() => setAsks('remove')}
          >
            {T.triggers.delete}
          </Button>
        )}
      </div>
      {asks === 'change' && <TriggerForm workflow={workflow} of={trigger} close={close} />}
      {asks === 'remove' && <RemoveTrigger workflow={workflow} of={trigger} close={close} />}
    </li>
  );
}
