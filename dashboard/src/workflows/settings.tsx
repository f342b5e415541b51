import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Settings } from '../../../src/client/client.ts';
import { changedOf } from '../api/changed.ts';
import type { Workflow } from '../api/types.ts';
import { updateWorkflow, workflowQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { Card } from '../parts/card.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { CheckField, NumberField } from '../parts/fields.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Foreign } from '../parts/text/foreign.tsx';
import { toast } from '../parts/toast.tsx';
import { perOne, times } from './units.ts';
import { WatchFacts, WatchFields, watchNumbers, watchOf } from './watch.tsx';

const words = T.workflowSettings;
const SECOND_MS = 1000;

interface SettingsProps {
  readonly workflow: Workflow;
  readonly canWrite: boolean;
}

/** How a workflow runs, and what it is watched for. */
export function WorkflowSettings({ workflow, canWrite }: SettingsProps) {
  const [isChanging, setChanging] = useState(false);
  const facts = factsOf(workflow.settings);
  return (
    <Card
      title={words.card}
      head={
        canWrite && (
          <>
            <span className="grow" />
            <Button size="compact-sm" variant="default" onClick={() => setChanging(true)}>
              {words.change}
            </Button>
          </>
        )
      }
    >
      <div className="card-body">
        <dl className="facts">
          {facts.map(([name, value]) => (
            <div key={name} style={{ display: 'contents' }}>
              <dt>{name}</dt>
              <dd>
                <Foreign>{value}</Foreign>
              </dd>
            </div>
          ))}
          <WatchFacts workflow={workflow} />
        </dl>
      </div>
      {isChanging && <Change workflow={workflow} close={() => setChanging(false)} />}
    </Card>
  );
}

function factsOf(settings: Settings): (readonly [string, string])[] {
  const { timeout_ms: timeout, memory_mb: memory, concurrency, queue_limit: queue, throttle, retry } = settings;
  const env = Object.keys(settings.env ?? {});
  return [
    [words.timeout, timeout === null ? words.timeoutDefault : durationText(timeout)],
    [words.memory, `${memory} MB`],
    [words.concurrency, concurrency.toLocaleString()],
    [words.queue, queue.toLocaleString()],
    [words.throttle, throttle ? words.throttled(throttle.limit, durationText(throttle.interval_ms)) : words.none],
    [words.retry, retry ? words.attempts(retry.attempts) : words.none],
    [words.notify, settings.notify ? words.yes : words.no],
    ...(env.length === 0 ? [] : [[words.env, env.join(', ')] as const]),
  ];
}

/** What is left empty is not limited, or as by default. Parts that have no field here stay as they are. */
function Change({ workflow, close }: { workflow: Workflow; close: () => void }) {
  const client = useQueryClient();
  // As it was when the form opened: it is read again meanwhile.
  const [before] = useState(workflow);
  const { id, settings } = before;
  const [name, setName] = useState(before.name);
  const [numbers, setNumbers] = useState({
    timeout: perOne(settings.timeout_ms, SECOND_MS),
    memory: settings.memory_mb as number | null,
    concurrency: settings.concurrency as number | null,
    queue: settings.queue_limit as number | null,
    limit: settings.throttle?.limit ?? null,
    interval: perOne(settings.throttle?.interval_ms, SECOND_MS),
    attempts: settings.retry?.attempts ?? null,
  });
  const [watch, setWatch] = useState(() => watchNumbers(settings.watch));
  const [notify, setNotify] = useState(settings.notify);
  const { timeout, memory, concurrency, queue, limit, interval, attempts } = numbers;
  const put = (of: keyof typeof numbers) => (value: number | null) => setNumbers({ ...numbers, [of]: value });
  const save = async (): Promise<void> => {
    const changed = {
      timeout_ms: times(timeout, SECOND_MS),
      ...(memory === null ? {} : { memory_mb: memory }),
      ...(concurrency === null ? {} : { concurrency }),
      ...(queue === null ? {} : { queue_limit: queue }),
      throttle: limit === null || interval === null ? null : { limit, interval_ms: Math.round(interval * SECOND_MS) },
      retry: attempts === null ? null : { ...settings.retry, attempts },
      watch: watchOf(watch),
      notify,
    };
    const change = {
      ...changedOf({ name: name.trim() }, { ...before }),
      settings: changedOf(changed, { ...settings }),
    };
    client.setQueryData(workflowQuery(id).queryKey, await updateWorkflow(id, change));
    void client.invalidateQueries({ queryKey: ['workflows'] });
    toast(words.saved);
  };
  return (
    <FormDialog title={words.title} submit={T.sources.save} run={save} close={close} isReady={name.trim() !== ''}>
      <TextInput label={words.name} required value={name} onChange={(typed) => setName(typed.currentTarget.value)} />
      <NumberField
        label={words.timeoutField}
        hint={words.timeoutHint}
        min={0.001}
        max={750}
        step="any"
        value={timeout}
        set={put('timeout')}
      />
      <NumberField label={words.memoryField} min={16} max={4096} value={memory} set={put('memory')} />
      <NumberField label={words.concurrency} min={1} max={1000} value={concurrency} set={put('concurrency')} />
      <NumberField label={words.queue} hint={words.queueHint} min={1} value={queue} set={put('queue')} />
      <fieldset className="field is-group">
        <legend>{words.throttle}</legend>
        <NumberField label={words.limit} min={1} max={1000} value={limit} set={put('limit')} />
        <NumberField
          label={words.interval}
          hint={words.throttleHint}
          min={0.1}
          step="any"
          value={interval}
          set={put('interval')}
        />
      </fieldset>
      <NumberField
        label={words.attemptsField}
        hint={words.retryHint}
        min={1}
        max={20}
        value={attempts}
        set={put('attempts')}
      />
      <WatchFields numbers={watch} set={setWatch} />
      <CheckField label={words.notify} hint={words.notifyHint} value={notify} set={setNotify} />
    </FormDialog>
  );
}
