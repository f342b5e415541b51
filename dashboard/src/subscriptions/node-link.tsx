import { Link } from '@tanstack/react-router';
import { useNames } from '../api/names.ts';
import { T } from '../english.ts';
import { Foreign } from '../parts/text/foreign.tsx';

/** Returns what gives the name of an emitter or listener, "all of a kind" among them. */
export function useNodeNames(): (id: string) => string {
  const names = useNames();
  const { wildcards } = T.subscriptions;
  return (id) => wildcards[id] ?? (id.startsWith('u_') ? wildcards['*'] : undefined) ?? names(id);
}

/** The way to an emitter or listener. */
export function NodeLink({ id, name }: { id: string; name: string }) {
  const text = <Foreign className="cut">{name}</Foreign>;
  if (/^p_\w/.test(id)) {
    return (
      <Link to="/workflows/$workflowId" params={{ workflowId: id }} className="cut">
        {text}
      </Link>
    );
  }
  if (/^dc_\w/.test(id)) {
    return (
      <Link to="/sources/$sourceId" params={{ sourceId: id }} className="cut">
        {text}
      </Link>
    );
  }
  if (/^wh_\w/.test(id)) {
    return (
      <Link to="/webhooks/$webhookId" params={{ webhookId: id }} className="cut">
        {text}
      </Link>
    );
  }
  if (/^hb_\w/.test(id)) {
    return (
      <Link to="/heartbeats/$heartbeatId" params={{ heartbeatId: id }} className="cut">
        {text}
      </Link>
    );
  }
  return text;
}
