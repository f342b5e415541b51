import { useQuery } from '@tanstack/react-query';
import type { Subscription } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import { listensQuery } from '../api/workflows.ts';
import { T } from '../english.ts';

/** Subscriptions to and from a workflow, source or webhook; a heartbeat only emits. */
export function Links({ id }: { id: string }) {
  const listens = useQuery(listensQuery({ listener_id: id })).data ?? [];
  const heard = useQuery(listensQuery({ emitter_id: id })).data ?? [];
  return (
    <>
      {!id.startsWith('hb_') && (
        <List title={T.workflows.listens} none={T.workflows.noListens} all={listens} end="emitter_id" />
      )}
      {!id.startsWith('wh_') && (
        <List title={T.workflows.heard} none={T.workflows.noHeard} all={heard} end="listener_id" />
      )}
    </>
  );
}

interface ListProps {
  readonly title: string;
  readonly none: string;
  readonly all: readonly Subscription[];
  readonly end: 'emitter_id' | 'listener_id';
}

function List({ title, none, all, end }: ListProps) {
  const names = useNames();
  return (
    <section className="card">
      <div className="card-head">
        <h2>{title}</h2>
      </div>
      {all.length === 0 && <p className="card-body soft">{none}</p>}
      <ul className="rows">
        {all.map((one) => (
          <li key={one.id}>
            <div className="grow cut">
              <bdi>{names(one[end])}</bdi>
            </div>
            <code className="soft">{T.workflows.ofName(one.event_name)}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}
