import { useQuery } from '@tanstack/react-query';
import { Navigate, useParams } from '@tanstack/react-router';
import { errorQuery } from '../api/errors.ts';
import { T } from '../english.ts';
import { Empty, Unready } from '../parts/state.tsx';
import { BackToErrors } from './receipts.tsx';

/** An error whose group is not known at the link: its page is found under its group. */
export function AnyError() {
  const { emitterId, errorId } = useParams({ from: '/shell/emitters/$emitterId/errors/$errorId' });
  const asked = useQuery(errorQuery(emitterId, errorId));
  const { data: record } = asked;
  if (!record) return <Unready of={asked} isPage />;
  const groupId = record.metadata.group_id;
  if (groupId) return <Navigate to="/errors/$groupId/$errorId" params={{ groupId, errorId }} replace />;
  return (
    <Empty isPage icon="search" title={T.error.notFound}>
      <div className="actions">
        <BackToErrors />
      </div>
    </Empty>
  );
}
