import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Receipt } from '../../../src/client/client.ts';
import { UNKNOWN, useNames } from '../api/names.ts';
import { shownState } from '../api/states.ts';
import { T } from '../english.ts';
import { BackTo } from '../parts/back.tsx';
import { Badge } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { inLocalTime } from '../parts/time.tsx';

/** Who was told of an error, and whether it arrived. */
export function Receipts({ receipts }: { receipts: readonly Receipt[] }) {
  const names = useNames();
  if (receipts.length === 0) return <p className="card-body soft">{T.error.toldNone}</p>;
  return (
    <ul className="rows">
      {receipts.map((receipt, at) => (
        <ReceiptRow key={receipt.id ?? at} receipt={receipt} names={names} />
      ))}
    </ul>
  );
}

/** Who was told and the state in one line; below it, as wide as the list, what is to be said of it. */
function ReceiptRow({ receipt, names }: { receipt: Receipt; names: (id: string) => string }) {
  const about = aboutOf(receipt, names);
  return (
    <li className="is-receipt">
      <div className="grow break">
        <To receipt={receipt}>
          <Foreign>{isNamed(receipt) ? names(receipt.listener_id) : T.receipts[kindOf(receipt)]}</Foreign>
        </To>
      </div>
      <Badge state={shownState(receipt.state, receipt.reason)} />
      {about !== '' && <div className="receipt-about break">{about}</div>}
    </li>
  );
}

const KINDS: Readonly<Record<string, string>> = { ch: 'channel', dc: 'source', http: 'request', mail: 'mail' };

function kindOf({ kind, listener_id: id }: Receipt): string {
  return KINDS[/^[a-z]+/.exec(id)?.[0] ?? ''] ?? kind;
}

/** A mail and a request of code's have no listener but the word. */
function isNamed({ kind, listener_id: id }: Receipt): boolean {
  return kind !== 'mail' && id.includes('_');
}

/** Its kind, when its name stands above, and why it is as it is. */
function aboutOf(receipt: Receipt, names: (id: string) => string): string {
  const kind = receipt.via === 'global' ? 'global' : kindOf(receipt);
  const why = receipt.reason && inLocalTime(receipt.reason);
  // That it was held back, its state says.
  const label = isNamed(receipt) && kind !== 'withheld' && T.receipts[kind];
  // The global error workflow has this name until it is renamed. Until names are known, nothing is said.
  const isSaid = kind === 'global' && [label, UNKNOWN].includes(names(receipt.listener_id).toLowerCase());
  return [!isSaid && label, why].filter(Boolean).join(' · ');
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
  return <BackTo list="/errors">{T.group.back}</BackTo>;
}
