// What can be gone to: pages, everything that has a name, groups of errors, and what an id names.

import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { searchGroupsQuery } from '../api/errors.ts';
import { keysQuery } from '../api/keys.ts';
import { type Named, useNamed } from '../api/names.ts';
import { accountsQuery, dataStoresQuery } from '../api/stores.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import type { IconName } from '../parts/icon.tsx';

export interface Found {
  readonly key: string;
  readonly text: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly href: string;
}

const { nav, palette: words } = T;

const PAGES: readonly Found[] = (
  [
    ['/', nav.overview, 'overview'],
    ['/errors', nav.errors, 'errors'],
    ['/workflows', nav.workflows, 'workflows'],
    ['/runs', nav.runs, 'runs'],
    ['/sources', nav.sources, 'sources'],
    ['/sources/new', T.sources.create, 'sources'],
    ['/webhooks', nav.webhooks, 'webhooks'],
    ['/deliveries', T.webhooks.deliveries, 'webhooks'],
    ['/subscriptions', nav.subscriptions, 'subscriptions'],
    ['/operations', nav.operations, 'replay'],
    ['/notices', nav.notices, 'notices'],
    ['/settings', nav.settings, 'settings'],
    ['/keys', T.keys.title, 'key'],
    ['/accounts', T.accounts.title, 'key'],
    ['/data-stores', T.dataStores.title, 'store'],
    ['/heartbeats', T.heartbeats.title, 'heartbeat'],
    ['/errors?state=muted', words.muted, 'errors'],
    ['/errors?state=resolved', words.resolved, 'errors'],
    ['/runs?state=failed', words.failedRuns, 'runs'],
    ['/runs?state=waiting', words.waitingRuns, 'runs'],
  ] as const
).map(([href, text, icon]) => ({ key: href, text, kind: words.page, icon, href }));

/** Where an id leads, by its prefix. */
const OF_ID: Readonly<Record<string, string>> = {
  r: 'runs',
  p: 'workflows',
  dc: 'sources',
  wh: 'webhooks',
  dl: 'deliveries',
  eg: 'errors',
  op: 'operations',
  ds: 'data-stores',
  hb: 'heartbeats',
};

/** Where a text is looked for in what has no name: the messages of errors, the events of runs. */
function searchesOf(text: string): readonly Found[] {
  const q = encodeURIComponent(JSON.stringify(text));
  return [
    {
      key: 'search-errors',
      text: words.inErrors(text),
      kind: nav.errors,
      icon: 'search',
      href: `/errors?state=all&q=${q}`,
    },
    { key: 'search-runs', text: words.inRuns(text), kind: nav.runs, icon: 'search', href: `/runs?q=${q}` },
  ];
}

const SHOWN = 8;
const SHORTEST = 2;

export function useFound(typed: string): readonly Found[] {
  const text = useDeferredValue(typed.trim());
  const wanted = text.toLowerCase();
  const named = useNamed();
  const stores = useQuery(dataStoresQuery).data ?? [];
  const accounts = useQuery(accountsQuery).data ?? [];
  const mayKeys = useMay('keys');
  const keys = (useQuery({ ...keysQuery, enabled: mayKeys }).data ?? []).map(({ id, label }) => ({ id, name: label }));
  const groups = useQuery({ ...searchGroupsQuery(text, SHOWN), enabled: text.length >= SHORTEST });
  const has = (said: string): boolean => said.toLowerCase().includes(wanted);
  const of = (all: readonly Named[], kind: string, icon: IconName, href: (id: string) => string): Found[] =>
    all
      .map(({ id, name, url }) => ({ key: id, text: name ?? url ?? id, kind, icon, href: href(id) }))
      .filter((one) => has(one.text))
      .slice(0, SHOWN);
  const page =
    (path: string) =>
    (id: string): string =>
      `/${path}/${id}`;
  const pages = PAGES.filter((one) => has(one.text));
  if (wanted === '') return pages;
  const [, prefix = ''] = /^([a-z]{1,2})_\w+$/.exec(text) ?? [];
  const path = OF_ID[prefix];
  return [
    ...(path === undefined
      ? []
      : [{ key: text, text, kind: words.byId, icon: 'search', href: `/${path}/${text}` } as const]),
    ...pages,
    ...of(named.workflows, nav.workflows, 'workflows', page('workflows')),
    ...of(named.sources, nav.sources, 'sources', page('sources')),
    ...of(named.webhooks, nav.webhooks, 'webhooks', page('webhooks')),
    ...of(named.heartbeats, nav.heartbeats, 'heartbeat', page('heartbeats')),
    ...of(stores, T.dataStores.title, 'store', page('data-stores')),
    ...of(named.channels, T.channels.title, 'notices', (id) => `/notices?channel=${id}`),
    ...of(accounts, T.accounts.title, 'key', () => '/accounts'),
    ...of(keys, T.keys.title, 'key', () => '/keys'),
    ...(groups.data ?? []).map(({ id, rule, fingerprint }) => ({
      key: id,
      text: `${rule ?? fingerprint.code}: ${fingerprint.template}`,
      kind: nav.errors,
      icon: 'errors' as const,
      href: `/errors/${id}`,
    })),
    ...searchesOf(text),
  ];
}
