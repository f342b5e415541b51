import { Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Channel } from '../../../src/client/client.ts';
import { channelsQuery, deleteChannel, newestNoticeQuery, testChannel, updateChannel } from '../api/channels.ts';
import { meQuery, updateMe } from '../api/me.ts';
import { T } from '../english.ts';
import { useAct, useMay } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card } from '../parts/card.tsx';
import { FormDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { WholeList } from '../parts/listed.tsx';
import { Badge, Empty } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { toast } from '../parts/toast.tsx';
import { hasFailed } from './failing.ts';
import { EditChannel, NewChannel } from './new-channel.tsx';

/** Where notices go. */
export function Channels() {
  const [isMaking, setMaking] = useState(false);
  const mayWrite = useMay('write');
  const told = useQuery(meQuery).data?.channels;
  return (
    <Card
      title={T.channels.title}
      head={
        <>
          <span className="grow" />
          {mayWrite && (
            <Button size="compact-sm" onClick={() => setMaking(true)}>
              {T.channels.create}
            </Button>
          )}
        </>
      }
    >
      <WholeList
        of={useQuery(channelsQuery)}
        empty={<Empty icon="notices" title={T.channels.none} text={T.channels.noneText} command={T.channels.command} />}
        row={(channel) => <Row key={channel.id} channel={channel} told={told} mayWrite={mayWrite} />}
      />
      {isMaking && <NewChannel close={() => setMaking(false)} />}
    </Card>
  );
}

interface RowProps {
  readonly channel: Channel;
  /** The channels that are told of all errors. */
  readonly told: readonly string[] | undefined;
  readonly mayWrite: boolean;
}

function Row({ channel, told, mayWrite }: RowProps) {
  const { id, kind, name, active, config } = channel;
  const isTold = told?.includes(id) ?? false;
  const isFailing = hasFailed(useQuery(newestNoticeQuery(id)).data);
  return (
    <li className="is-stacked">
      <div className="grow">
        <strong>
          <Foreign>{name}</Foreign>
        </strong>{' '}
        <span className="soft">{T.channels.kinds[kind]}</span>
        <div className="soft cut">
          <Foreign>{config.to ?? config.url ?? T.channels.byKey}</Foreign>
        </div>
      </div>
      {told !== undefined && (
        <Badge
          state={isTold && !isFailing ? 'active' : 'chosen'}
          text={isTold ? T.channels.hearsAll : T.channels.hearsSome}
        />
      )}
      {isFailing && <Badge state="failing" text={T.channels.failing} />}
      {!active && <Badge state="paused" text={T.workflows.inactive} />}
      {mayWrite && <Acts channel={channel} told={told} isTold={isTold} />}
    </li>
  );
}

function Acts({ channel, told, isTold }: Omit<RowProps, 'mayWrite'> & { isTold: boolean }) {
  const { id, name, active } = channel;
  const [isDeleting, setDeleting] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const mayAccount = useMay('account');
  const act = useAct(['channels'], ['me']);
  const test = (): Promise<void> =>
    act(async () => {
      const { delivered, attempt } = await testChannel(id);
      toast(T.webhooks.tested(delivered, attempt.detail), undefined, !delivered);
    });
  const hear = (): Promise<unknown> =>
    updateMe({ channels: isTold ? (told ?? []).filter((one) => one !== id) : [...(told ?? []), id] });
  return (
    <div className="buttons">
      <ActButton size="compact-sm" variant="default" aria-label={T.channels.testOf(name)} act={test}>
        {T.channels.test}
      </ActButton>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="compact-sm" variant="default" aria-label={T.channels.more(name)}>
            <Icon name="more" size={15} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setEditing(true)}>{T.channels.edit}</Menu.Item>
          {told !== undefined && mayAccount && (
            <Menu.Item onClick={() => void act(hear, T.channels.saved)}>
              {isTold ? T.channels.hearNot : T.channels.hear}
            </Menu.Item>
          )}
          <Menu.Item onClick={() => void act(() => updateChannel(id, { active: !active }), T.channels.saved)}>
            {active ? T.workflows.deactivate : T.workflows.activate}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item className="bad" onClick={() => setDeleting(true)}>
            {T.channels.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isEditing && <EditChannel channel={channel} close={() => setEditing(false)} />}
      {isDeleting && (
        <FormDialog
          title={T.channels.delete}
          submit={T.channels.delete}
          isBad
          close={() => setDeleting(false)}
          run={() => act(() => deleteChannel(id), T.channels.deleted)}
        >
          <p>{T.channels.deleteText(name)}</p>
        </FormDialog>
      )}
    </div>
  );
}
