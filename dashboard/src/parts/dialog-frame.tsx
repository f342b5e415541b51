import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { T } from '../english.ts';

export interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly isLarge?: boolean;
  readonly children: ReactNode;
}

export function DialogFrame({ title, close, isLarge = false, children }: DialogProps) {
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
