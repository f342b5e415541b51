import { Button, Modal } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { T } from '../english.ts';
import { toastError } from './toast.tsx';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly isLarge?: boolean;
  readonly children: ReactNode;
}

export function Dialog({ title, close, isLarge = false, children }: DialogProps) {
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      size={isLarge ? 'lg' : 'md'}
      closeButtonProps={{ 'aria-label': T.help.close }}
    >
      {children}
    </Modal>
  );
}

interface FormDialogProps extends DialogProps {
  readonly submit: string;
  readonly isBad?: boolean;
  readonly isReady?: boolean;
  /** The dialog is closed when it has succeeded; what it throws is shown, and the dialog stays. */
  readonly run: () => Promise<void>;
}

export function FormDialog({ submit, isBad = false, isReady = true, run, children, ...dialog }: FormDialogProps) {
  const [isBusy, setBusy] = useState(false);
  const go = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await run();
      dialog.close();
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog {...dialog}>
      <form className="stack-16" onSubmit={(event) => void go(event)}>
        {children}
        <div className="dialog-end">
          <Button variant="default" size="xs" onClick={dialog.close}>
            {T.error.cancel}
          </Button>
          <Button type="submit" size="xs" loading={isBusy} disabled={!isReady} className={isBad ? 'is-bad' : undefined}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
