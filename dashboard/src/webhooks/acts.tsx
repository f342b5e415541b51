import { Button, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Webhook } from '../../../src/client/client.ts';
import { deleteWebhook, rotateSecret, setWebhookActive, testWebhook } from '../api/webhooks.ts';
import { T } from '../english.ts';
import { useAct } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { toast } from '../parts/toast.tsx';
import { EditWebhook } from './edit.tsx';
import { ResendMany } from './resend.tsx';
import { SecretDialog } from './secret.tsx';

const words = T.webhooks;

/** What can be done with a webhook. */
export function Acts({ webhook }: { webhook: Webhook }) {
  const { id, active } = webhook;
  const [secret, setSecret] = useState<string | null>(null);
  const act = useAct(['webhook', id], ['webhooks']);
  const test = (): Promise<void> =>
    act(async () => {
      const { delivered, attempt } = await testWebhook(id);
      toast(words.tested(delivered, attempt.detail ?? ''), undefined, !delivered);
    });
  return (
    <div className="buttons">
      <ActButton size="xs" act={test}>
        {words.test}
      </ActButton>
      <ActButton size="xs" variant="default" act={() => act(() => setWebhookActive(id, !active))}>
        {active ? words.disable : words.enable}
      </ActButton>
      <ConfirmButton
        title={words.rotate}
        text={words.rotateText}
        run={async () => setSecret((await rotateSecret(id)).secret)}
      />
      <More webhook={webhook} />
      {secret !== null && <SecretDialog secret={secret} text={words.rotated} close={() => setSecret(null)} />}
    </div>
  );
}

/** What is done more rarely. */
function More({ webhook }: { webhook: Webhook }) {
  const { id, name, url } = webhook;
  const navigate = useNavigate();
  const act = useAct(['webhooks'], ['subscriptions']);
  const [asking, setAsking] = useState<'edit' | 'resend' | 'delete' | null>(null);
  const close = (): void => setAsking(null);
  const remove = async (): Promise<void> => {
    // The page asks for its record again and again, and would be told that there is none.
    await navigate({ to: '/webhooks' });
    await act(() => deleteWebhook(id), words.deleted);
  };
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setAsking('resend')}>
        {words.resendMany}
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default" aria-label={T.channels.more(name ?? url)}>
            <Icon name="more" size={15} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setAsking('edit')}>{words.edit}</Menu.Item>
          <Menu.Divider />
          <Menu.Item className="bad" onClick={() => setAsking('delete')}>
            {words.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asking === 'edit' && <EditWebhook webhook={webhook} close={close} />}
      {asking === 'resend' && <ResendMany webhookId={id} close={close} />}
      {asking === 'delete' && (
        <FormDialog title={words.delete} submit={words.delete} isBad close={close} run={remove}>
          <p>{words.deleteText(name ?? url)}</p>
        </FormDialog>
      )}
    </>
  );
}
