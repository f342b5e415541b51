import { Button, Modal } from '@mantine/core';
import { T } from '../english.ts';
import { Command } from '../parts/copy.tsx';
import { useFocusBack } from '../parts/focus.ts';

interface SecretProps {
  readonly title?: string;
  readonly secret: string;
  readonly text: string;
  readonly close: () => void;
}

/** A secret is shown once: it is nowhere to be read again. */
export function SecretDialog({ title = T.webhooks.secret, secret, text, close }: SecretProps) {
  useFocusBack();
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': T.help.close }}
    >
      <div className="stack-16">
        <p>{text}</p>
        <p className="soft">{T.webhooks.once}</p>
        <Command text={secret} />
        <Button size="xs" onClick={close}>
          {T.webhooks.close}
        </Button>
      </div>
    </Modal>
  );
}
