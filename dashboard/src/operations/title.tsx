import { useQuery } from '@tanstack/react-query';
import type { Operation } from '../../../src/client/client.ts';
import { groupQuery } from '../api/errors.ts';
import { useNames } from '../api/names.ts';
import { T } from '../english.ts';
import { Foreign } from '../parts/text/foreign.tsx';

/** What an operation is of, in words. */
export function OperationTitle({ operation: { replay, webhook_id: webhookId } }: { operation: Operation }) {
  const names = useNames();
  const { titles } = T.operations;
  if (replay === null) {
    return (
      <>
        {titles.resend} <Foreign>{names(webhookId ?? '')}</Foreign>
      </>
    );
  }
  if (replay.group_id !== null) {
    return (
      <>
        {titles.group} <GroupName id={replay.group_id} />
      </>
    );
  }
  const emitterId = replay.workflow_id ?? replay.source_id;
  return (
    <>
      {emitterId === null ? titles.ids : titles.workflow} <Foreign>{names(emitterId ?? '')}</Foreign>{' '}
      {replay.code && <code>{replay.code}</code>}
    </>
  );
}

/** Returns the same as a text, for the browser's title. */
export function useTitleText({ replay, webhook_id: webhookId }: Operation): string {
  const names = useNames();
  const { titles } = T.operations;
  const { data: group } = useQuery({ ...groupQuery(replay?.group_id ?? ''), enabled: false });
  if (replay === null) return `${titles.resend} ${names(webhookId ?? '')}`;
  if (replay.group_id !== null) return `${titles.group} ${group?.rule ?? group?.fingerprint.code ?? replay.group_id}`;
  const emitterId = replay.workflow_id ?? replay.source_id;
  return emitterId === null ? titles.ids : `${titles.workflow} ${names(emitterId)}`;
}

/** Reads the group of errors that an operation replays. */
export function useGroupOf(operation: Operation | undefined) {
  const id = operation?.replay?.group_id ?? null;
  return useQuery({ ...groupQuery(id ?? ''), staleTime: 60_000, enabled: id !== null });
}

export function GroupName({ id }: { id: string }) {
  const { data: group, isPending } = useQuery({ ...groupQuery(id), staleTime: 60_000 });
  return <Foreign>{group ? (group.rule ?? group.fingerprint.code) : isPending ? '…' : id}</Foreign>;
}
