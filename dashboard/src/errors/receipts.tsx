import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Receipt } from '../../../src/client/client.ts';
import { useNames } from '../api/names.ts';
import { T } from '../english.ts';
import { Badge } from '../parts/state.tsx';

/** Who was told of an error, and whether it arrived. */
export function Receipts({ receipts }: { receipts: readonly Receipt[] }) {
  const names = useNames();
  const nameOf = ({ kind, listener_id: id }: Receipt): string => (id === null || kind === 'mail' ? '' : names(id));
  if (receipts.length === 0) return <p className="card-body soft">{T.error.toldNone}</p>;
  return (
    <ul className="rows">
      {receipts.map((receipt, at) => (
        <li key={receipt.id ?? at}>
          <div className="grow break">
            <To receipt={receipt}>
              <bdi>{nameOf(receipt) || kindName(receipt)}</bdi>
            </To>
            <div className="soft">{aboutOf(receipt, nameOf(receipt))}</div>
          </div>
          <Badge state={receipt.state} />
        </li>
      ))}
    </ul>
  );
}

const KINDS: Readonly<Record<string, string>> = { ch: 'channel', dc: 'source', http: 'request' };

const kindName = (receipt: Receipt): string => T.receipts[kindOf(receipt)] ?? receipt.kind;

/** Its kind, when its name stands above, and why it is as it is. */
function aboutOf(receipt: Receipt, name: string): string {
  const why = receipt.reason ?? (receipt.via === 'global' ? T.receipts.global : null);
  return [name === '' ? null : kindName(receipt), why].filter(Boolean).join(' · ');
}

function kindOf({ kind, listener_id: id }: Receipt): string {
  return kind === 'withheld' || kind === 'mail' ? kind : (KINDS[/^[a-z]+/.exec(id)?.[0] ?? ''] ?? kind);
}

/** Leads to the run or delivery. */
function To({ receipt: { kind, id }, children }: { receipt: Receipt; children: ReactNode }) {
  if (id === null || kind === 'withheld') return children;
  if (kind === 'run')
    return (
      <Link to="/runs/$runId" params={{ runId: id }}>
        {children}
      </Link>
    );
  return (
    <Link to="/deliveries/$deliveryId" params={{ deliveryId: id }}>
      {children}
    </Link>
  );
}

export function BackToErrors() {
  return (
    <Link to="/errors" className="crumb">
      ‹ {T.group.back}
    </Link>
  );
}
