import { Button, Modal } from '@mantine/core';
import { T } from '../english.ts';
import { Command } from '../parts/copy.tsx';

/** A secret is shown once: it is nowhere to be read again. */
export function SecretDialog({ secret, text, close }: { secret: string; text: string; close: () => void }) {
  return (
    <Modal
      opened
      onClose={close}
      title={T.webhooks.secret}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': T.help.close }}
    >
      <div className="stack-16">
        <p>{text}</p>
        <p className="soft">{T.webhooks.secretText}</p>
        <Command text={secret} />
        <Button size="xs" onClick={close}>
          {T.webhooks.close}
        </Button>
      </div>
    </Modal>
  );
}
