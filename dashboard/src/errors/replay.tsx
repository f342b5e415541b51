import { Button, Modal } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { replayError } from '../api/errors.ts';
import { T } from '../english.ts';
import { Scrollable } from '../parts/scrollable.tsx';
import { toast, toastError } from '../parts/toast.tsx';
import { diffLines, eventFault, readable } from './event-text.ts';

interface ReplayProps {
  readonly emitterId: string;
  readonly errorId: string;
  readonly event: string;
  readonly close: () => void;
}

/** The event may be edited before it runs again. As long as it was not, the original's bytes are used. */
export function ReplayDialog({ emitterId, errorId, event, close }: ReplayProps) {
  const client = useQueryClient();
  const [before] = useState(() => readable(event));
  const [text, setText] = useState(before);
  const [isBusy, setBusy] = useState(false);
  const isEdited = text !== before;
  const fault = isEdited ? eventFault(text) : null;
  const start = async (): Promise<void> => {
    setBusy(true);
    try {
      await replayError(emitterId, errorId, isEdited ? text : null);
      toast(T.error.started);
      close();
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
    void client.invalidateQueries({ queryKey: ['error', errorId] });
  };
  return (
    <Modal
      opened
      onClose={close}
      title={T.error.replayTitle}
      size="lg"
      closeButtonProps={{ 'aria-label': T.help.close }}
    >
      <div className="stack-16">
        <p className="soft">{T.error.replayText}</p>
        <textarea
          className="editor-text"
          aria-label={T.error.event}
          spellCheck={false}
          value={text}
          onChange={(change) => setText(change.currentTarget.value)}
        />
        <Difference before={before} text={text} fault={fault} />
        <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8 }}>
          <Button variant="default" size="xs" onClick={close}>
            {T.error.cancel}
          </Button>
          <Button size="xs" loading={isBusy} disabled={fault !== null} onClick={() => void start()}>
            {isEdited ? T.error.replayEdited : T.errors.replay}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

function Difference({ before, text, fault }: { before: string; text: string; fault: string | null }) {
  if (text === before) return <p className="diff-note">{T.error.original}</p>;
  const lines = diffLines(before, text);
  const changed = lines?.filter(({ kind }) => kind !== 'same').length ?? 0;
  return (
    <div aria-live="polite">
      <p className={fault === null ? 'diff-note' : 'diff-note bad'}>
        {fault === null ? T.error.changed(changed) : `${T.error.notJson} ${fault}`}
      </p>
      {lines !== null && (
        <Scrollable className="diff" label={T.error.changed(changed)}>
          {lines.map(({ kind, text: line }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
            <div key={at} className={kind === 'add' ? 'add' : kind === 'cut' ? 'cut-out' : undefined}>
              {kind === 'add' ? '+ ' : kind === 'cut' ? '- ' : '  '}
              {line}
            </div>
          ))}
        </Scrollable>
      )}
    </div>
  );
}
