import type { ErrorGroup } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { At } from '../parts/time.tsx';

type Ending = Pick<
  ErrorGroup,
  'state' | 'muted_until_ms' | 'muted_errors_left' | 'muted_until_next_deployment' | 'resolved_in_next_deployment'
>;

/** Returns whether the state of a group ends by itself, other than by any error of a resolved one. */
export function hasEnd({ state, resolved_in_next_deployment: isNext }: Ending): boolean {
  return state === 'muted' || (state === 'resolved' && isNext);
}

/** When the state of a muted or resolved group is over. A mute may end in several ways: by whichever comes first. */
export function Ends({ group }: { group: Ending }) {
  const { state, muted_until_ms: ms, muted_errors_left: left, muted_until_next_deployment: isNext } = group;
  if (state !== 'muted') return T.group.ends.deployment;
  const others = [
    ...(left === null ? [] : [T.group.ends.errors(left)]),
    ...(isNext ? [T.group.ends.deployment] : []),
  ].join(T.group.ends.or);
  return (
    <>
      {ms !== null && <At ms={ms} />}
      {ms !== null && others !== '' && T.group.ends.or}
      {others}
    </>
  );
}
