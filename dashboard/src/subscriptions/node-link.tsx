import { Link } from '@tanstack/react-router';

/** The way to an emitter or listener. */
export function NodeLink({ id, name }: { id: string; name: string }) {
  const text = <bdi className="cut">{name}</bdi>;
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
  return text;
}
