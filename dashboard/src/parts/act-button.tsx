import { Button, type ButtonProps } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { toastError } from './toast.tsx';

interface ActButtonProps extends ButtonProps {
  /** What the button starts; what it throws is shown. */
  readonly act: () => Promise<unknown>;
  readonly 'aria-label'?: string;
  readonly children: ReactNode;
}

/** A button that shows that what it started is under way, and cannot be pressed again meanwhile. */
export function ActButton({ act, children, ...look }: ActButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isBusy, setBusy] = useState(false);
  const wasBusy = useRef(false);
  const start = async (): Promise<void> => {
    setBusy(true);
    try {
      await act();
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
  };
  useEffect(() => {
    // A button that cannot be pressed loses the focus: a person at the keyboard would begin at the top of the page.
    if (wasBusy.current && !isBusy && document.activeElement === document.body) button.current?.focus();
    wasBusy.current = isBusy;
  }, [isBusy]);
  return (
    <Button {...look} ref={button} loading={isBusy} aria-busy={isBusy} onClick={() => void start()}>
      {children}
    </Button>
  );
}
