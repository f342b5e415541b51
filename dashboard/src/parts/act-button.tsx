import { Button, type ButtonProps } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { toastError } from './toast.tsx';

interface ActButtonProps extends ButtonProps {
  /** What the button starts; what it throws is shown. */
  readonly act: () => Promise<unknown>;
  readonly 'aria-label'?: string;
  readonly children: ReactNode;
}

/** A button that shows that what it started is under way, and cannot be pressed again meanwhile. */
export function ActButton({ act, children, ...look }: ActButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const start = async (): Promise<void> => {
    setBusy(true);
    try {
      await act();
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
  };
  return (
    <Button {...look} loading={isBusy} aria-busy={isBusy} onClick={() => void start()}>
      {children}
    </Button>
  );
}
