// The way back to a list: as it was left, with its filters and its order.

import { type AnyRouter, Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** What the address of each page held when it was left. The session's end forgets it: the next one may be another owner's. */
const left = new Map<string, object>();

/** Notes how each page is left, until the tab is closed. */
export function rememberWhatIsLeft(router: Pick<AnyRouter, 'subscribe'>): void {
  router.subscribe('onBeforeLoad', ({ fromLocation, toLocation }) => {
    if (toLocation.pathname === '/sign-in') left.clear();
    else if (fromLocation !== undefined) left.set(fromLocation.pathname, fromLocation.search);
  });
}

type List = '/data-stores' | '/errors' | '/heartbeats' | '/operations' | '/sources' | '/webhooks' | '/workflows';

export function BackTo({ list, children }: { readonly list: List; readonly children: ReactNode }) {
  return (
    <Link to={list} search={(left.get(list) ?? {}) as LinkProps['search']} className="crumb">
      ‹ {children}
    </Link>
  );
}
