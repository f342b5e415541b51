import { Menu } from '@mantine/core';
import type { ErrorGroup } from '../../../src/client/client.ts';
import type { GroupChange } from '../api/errors.ts';
import { T } from '../english.ts';
import { mutedFor } from './acts.ts';

interface MuteItemsProps {
  readonly groups: readonly Pick<ErrorGroup, 'last_deployment_id'>[];
  readonly change: (wanted: GroupChange, said: string) => Promise<void>;
}

/** The ways to mute groups, and what waits for the next deployment: groups of what did not run have none. */
export function MuteItems({ groups, change }: MuteItemsProps) {
  const isDeployed = groups.every(({ last_deployment_id: deployment }) => deployment !== null);
  const mute = (wanted: GroupChange): void => void change({ state: 'muted', ...wanted }, T.errors.muted);
  return (
    <>
      <Menu.Item onClick={() => mute(mutedFor(1))}>{T.errors.muteDay}</Menu.Item>
      <Menu.Item onClick={() => mute(mutedFor(7))}>{T.errors.muteWeek}</Menu.Item>
      <Menu.Item onClick={() => mute({ muted_errors: 100 })}>{T.errors.muteHundred}</Menu.Item>
      {isDeployed && (
        <>
          <Menu.Item onClick={() => mute({ muted_until_next_deployment: true })}>{T.errors.muteDeployment}</Menu.Item>
          <Menu.Divider />
          <Menu.Item
            onClick={() => void change({ state: 'resolved', resolved_in_next_deployment: true }, T.errors.resolved)}
          >
            {T.errors.resolveNext}
          </Menu.Item>
        </>
      )}
    </>
  );
}
