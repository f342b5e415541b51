import type { ListedErrorGroup } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { FormDialog } from '../parts/dialog.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import type { GroupActs } from './acts.ts';

interface ReplayNewestProps {
  readonly group: Pick<ListedErrorGroup, 'emitter_id' | 'last_error_id' | 'rule' | 'fingerprint'>;
  readonly acts: GroupActs;
  readonly close: () => void;
}

/** Asks before a key replays an error: what its run does, such as a charge, cannot be taken back. */
export function ReplayNewest({ group, acts, close }: ReplayNewestProps) {
  return (
    <FormDialog title={T.errors.replayNewest} submit={T.errors.replay} close={close} run={() => acts.replay(group)}>
      <p>
        <Foreign>{group.rule ?? group.fingerprint.code}</Foreign>
      </p>
      <p className="soft">{T.errors.replayNewestText}</p>
    </FormDialog>
  );
}
