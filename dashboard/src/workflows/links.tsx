import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { Subscription } from '../../../src/client/client.ts';
import { listensQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { WholeList } from '../parts/listed.tsx';
import { NodeLink, useNodeNames } from '../subscriptions/node-link.tsx';

/** Subscriptions to and from a workflow, source or webhook; a heartbeat only emits. */
export function Links({ id }: { id: string }) {
  const listens = useQuery(listensQuery({ listener_id: id }));
  const heard = useQuery(listensQuery({ emitter_id: id }));
  return (
    <>
      {!id.startsWith('hb_') && (
        <List title={T.workflows.listens} none={T.workflows.noListens} of={listens} end="emitter_id" />
      )}
      {!id.startsWith('wh_') && (
        <List title={T.workflows.heard} none={T.workflows.noHeard} of={heard} end="listener_id" />
      )}
    </>
  );
}

interface ListProps {
  readonly title: string;
  readonly none: string;
  readonly of: UseQueryResult<readonly Subscription[]>;
  readonly end: 'emitter_id' | 'listener_id';
}

function List({ title, none, of, end }: ListProps) {
  const names = useNodeNames();
  return (
    <section className="card">
      <div className="card-head">
        <h2>{title}</h2>
      </div>
      <WholeList
        of={of}
        usual={1}
        empty={<p className="card-body soft">{none}</p>}
        row={(one) => (
          <li key={one.id}>
            <div className="grow break">
              <NodeLink id={one[end]} name={names(one[end])} />
              <div className="soft">{T.workflows.ofName(one.event_name)}</div>
            </div>
          </li>
        )}
      />
    </section>
  );
}
