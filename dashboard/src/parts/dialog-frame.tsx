import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { T } from '../english.ts';

export interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly isLarge?: boolean;
  /** Something was typed, which neither a click beside the dialog nor Escape is to lose. */
  readonly isKept?: boolean;
  readonly children: ReactNode;
}

export function DialogFrame({ title, close, isLarge = false, isKept = false, children }: DialogProps) {
  return (
    <Modal
      opened
      onClose={close}
      closeOnClickOutside={!isKept}
      closeOnEscape={!isKept}
      title={title}
      size={isLarge ? 'lg' : 'md'}
      closeButtonProps={{ 'aria-label': T.help.close }}
    >
      {children}
    </Modal>
  );
}
