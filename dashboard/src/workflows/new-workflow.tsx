import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { createWorkflow } from '../api/workflows.ts';
import { T } from '../english.ts';
import { Choice } from '../parts/choice.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { NumberField } from '../parts/fields.tsx';

const words = T.newWorkflow;
const STARTS = ['http', 'interval', 'cron', 'none'] as const;

/** The step that a workflow begins with: it returns what it was given. */
const FIRST_STEP = `// Later steps, and the page of the run, get what this returns.
// What this throws is an error, about which you get a mail.
export default async ({ steps, $ }) => {
  const { event } = steps.trigger;
  $.export('$summary', 'It ran');
  return event;
};
`;

/** Makes a workflow of one step, and shows its page, where the code is written. */
export function NewWorkflow({ close }: { close: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [start, setStart] = useState<(typeof STARTS)[number]>('http');
  const [seconds, setSeconds] = useState<number | null>(900);
  const [cron, setCron] = useState('0 9 * * 1-5');
  const [timezone, setTimezone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const triggers = {
    http: [{ type: 'http' as const }],
    interval: [{ type: 'schedule' as const, interval_seconds: seconds ?? 0 }],
    cron: [{ type: 'schedule' as const, cron, timezone }],
    none: [],
  }[start];
  const create = async (): Promise<void> => {
    const steps = [{ namespace: 'first', code: FIRST_STEP }];
    const { id } = await createWorkflow({ name: name.trim(), steps, triggers });
    void client.invalidateQueries({ queryKey: ['workflows'] });
    await navigate({ to: '/workflows/$workflowId', params: { workflowId: id } });
  };
  return (
    <FormDialog title={words.title} submit={words.create} close={close} run={create} isReady={name.trim() !== ''}>
      <TextInput label={words.name} required value={name} onChange={(typed) => setName(typed.currentTarget.value)} />
      <div className="field">
        <span aria-hidden="true">{words.start}</span>
        <Choice
          label={words.start}
          options={STARTS}
          textOf={(one) => words.starts[one]}
          value={start}
          choose={(one) => setStart(one ?? 'http')}
        />
      </div>
      {start === 'interval' && <NumberField label={T.sources.seconds} min={1} value={seconds} set={setSeconds} />}
      {start === 'cron' && (
        <>
          <TextInput label={T.sources.cron} value={cron} onChange={(typed) => setCron(typed.currentTarget.value)} />
          <TextInput
            label={T.heartbeats.zone}
            value={timezone}
            onChange={(typed) => setTimezone(typed.currentTarget.value)}
          />
        </>
      )}
      <p className="soft">{words.text}</p>
    </FormDialog>
  );
}
