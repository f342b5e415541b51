import { Button } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { later } from '../app/later.tsx';
import { T } from '../english.ts';
import type { DialogProps } from './dialog-frame.tsx';
import { useFocusBack } from './focus.ts';
import { textOfError } from './toast.tsx';

/** Dialogs come when the first one is opened: a page shows without them. */
const Frame = later(async () => (await import('./dialog-frame.tsx')).DialogFrame);

export function Dialog(props: DialogProps) {
  useFocusBack();
  return <Frame {...props} />;
}

interface FormDialogProps extends DialogProps {
  readonly submit: string;
  readonly isBad?: boolean;
  readonly isReady?: boolean;
  /** The dialog is closed when it has succeeded; what it throws is shown, and the dialog stays. */
  readonly run: () => Promise<void>;
}

/** The first field has the focus when the dialog opens, or else what it asks for if that loses nothing, and not the button that closes it. */
function focusField(form: HTMLFormElement | null): void {
  form?.querySelector('input, select, textarea, [type=submit]:not(.is-bad)')?.setAttribute('data-autofocus', '');
}

export function FormDialog({ submit, isBad = false, isReady = true, run, children, ...dialog }: FormDialogProps) {
  const [isBusy, setBusy] = useState(false);
  const [isTyped, setTyped] = useState(false);
  /** Why it failed: said where the person looks, and for as long as the dialog is open. */
  const [why, setWhy] = useState<string | null>(null);
  const go = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setWhy(null);
    try {
      await run();
      dialog.close();
    } catch (error) {
      setWhy(textOfError(error));
      setBusy(false);
    }
  };
  return (
    <Dialog {...dialog} isKept={isTyped}>
      <form ref={focusField} className="stack-16" onInput={() => setTyped(true)} onSubmit={(event) => void go(event)}>
        {children}
        {why !== null && (
          <p className="bad break" role="alert">
            {why}
          </p>
        )}
        <div className="dialog-end">
          <Button variant="default" size="xs" onClick={dialog.close}>
            {T.error.cancel}
          </Button>
          <Button
            type="submit"
            size="xs"
            loading={isBusy}
            aria-busy={isBusy}
            disabled={!isReady}
            className={isBad ? 'is-bad' : undefined}
          >
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
