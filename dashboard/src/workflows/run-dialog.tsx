import { Button, Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { runWorkflow } from '../api/workflows.ts';
import { T } from '../english.ts';
import { eventFault } from '../errors/event-text.ts';
import { toast, toastError } from '../parts/toast.tsx';

const FIRST = '{\n  "body": {}\n}';

export function RunDialog({ workflowId, close }: { workflowId: string; close: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState(FIRST);
  const [isBusy, setBusy] = useState(false);
  const fault = eventFault(text);
  const start = async (): Promise<void> => {
    setBusy(true);
    try {
      const { run_id: runId } = await runWorkflow(workflowId, text);
      toast(T.workflows.started);
      await navigate({ to: '/runs/$runId', params: { runId } });
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={close}
      title={T.workflows.runTitle}
      size="lg"
      closeButtonProps={{ 'aria-label': T.help.close }}
    >
      <div className="stack-16">
        <p className="soft">{T.workflows.runText}</p>
        <textarea
          className="editor-text"
          aria-label={T.workflows.runEvent}
          spellCheck={false}
          value={text}
          onChange={(change) => setText(change.currentTarget.value)}
        />
        {fault !== null && (
          <p className="diff-note bad">
            {T.error.notJson} {fault}
          </p>
        )}
        <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8 }}>
          <Button variant="default" size="xs" onClick={close}>
            {T.error.cancel}
          </Button>
          <Button size="xs" loading={isBusy} disabled={fault !== null} onClick={() => void start()}>
            {T.workflows.run}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
