import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { accountsQuery } from '../api/stores.ts';
import { T } from '../english.ts';
import { JsonTree } from '../parts/json-tree.tsx';
import { durationText } from '../parts/text/duration.ts';
import { Foreign } from '../parts/text/foreign.tsx';

/** More of a text is not shown. */
const MAX_CHARS = 300;

type Values = Readonly<Record<string, unknown>>;

/** The values that a source is configured with. Its address has a card of its own. */
export function Configured({ values }: { values: Values }) {
  const shown = Object.entries(values).filter(([, value]) => !isObject(value) || !('endpoint_url' in value));
  if (shown.length === 0) return <p className="card-body soft">{T.sources.noProps}</p>;
  return (
    <dl className="facts card-body">
      {shown.map(([name, value]) => (
        <Line key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

function Line({ name, value }: { name: string; value: unknown }) {
  const said = textOf(value);
  const whole = said === null ? 'is-whole' : undefined;
  return (
    <>
      <dt className={whole}>
        <Foreign>{name}</Foreign>
      </dt>
      <dd className={whole}>{said ?? <JsonTree value={value} />}</dd>
    </>
  );
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a value as text; null: it is to be shown as JSON. */
function textOf(value: unknown): ReactNode {
  if (typeof value === 'string')
    return <Foreign>{value.length > MAX_CHARS ? `${value.slice(0, MAX_CHARS)}…` : value}</Foreign>;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object'))
    return <Foreign>{value.join(', ')}</Foreign>;
  if (!isObject(value)) return typeof value === 'object' ? null : String(value);
  const { intervalSeconds: seconds, cron, timezone, authProvisionId: account } = value;
  if (typeof seconds === 'number') return T.workflows.every(durationText(seconds * 1000));
  if (typeof cron === 'string') return typeof timezone === 'string' ? `${cron} (${timezone})` : cron;
  return typeof account === 'string' ? <AccountName id={account} /> : null;
}

function AccountName({ id }: { id: string }) {
  const accounts = useQuery(accountsQuery).data;
  return <Foreign>{accounts?.find((one) => one.id === id)?.name ?? id}</Foreign>;
}
