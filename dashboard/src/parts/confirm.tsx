import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { FormDialog } from './dialog.tsx';

interface ConfirmButtonProps {
  /** What the dialog and its button say. */
  readonly title: string;
  /** What is lost by it. */
  readonly text: string;
  readonly size?: 'xs' | 'compact-xs' | 'compact-sm';
  /** What the button is called where there are several of the kind. */
  readonly label?: string;
  readonly children?: ReactNode;
  readonly run: () => Promise<void>;
}

/** A button for what cannot be taken back: it asks first. */
export function ConfirmButton({ title, text, size = 'xs', label, children = title, run }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button size={size} variant="default" aria-label={label} onClick={() => setAsking(true)}>
        {children}
      </Button>
      {isAsking && (
        <FormDialog title={title} submit={title} isBad close={() => setAsking(false)} run={run}>
          <p>{text}</p>
        </FormDialog>
      )}
    </>
  );
}
