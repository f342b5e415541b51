import { TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { createWorkflow } from '../api/workflows.ts';
import { T } from '../english.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { StartChoice, scheduleOf, TimesFields, useTimes } from './start-fields.tsx';

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
  const [times, put] = useTimes();
  const triggers = {
    http: [{ type: 'http' as const }],
    interval: [scheduleOf('interval', times)],
    cron: [scheduleOf('cron', times)],
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
      <StartChoice starts={STARTS} value={start} set={setStart} />
      <TimesFields start={start} times={times} put={put} />
      <p className="soft">{words.text}</p>
    </FormDialog>
  );
}
