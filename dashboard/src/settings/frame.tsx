import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { T } from '../english.ts';

const TABS = [
  { to: '/settings', text: T.settings.profile },
  { to: '/keys', text: T.settings.keys },
  { to: '/accounts', text: T.settings.accounts },
  { to: '/data-stores', text: T.settings.dataStores },
  { to: '/heartbeats', text: T.settings.heartbeats },
] as const;

/** The frame of the pages about the owner: what belongs to no single workflow. */
export function SettingsFrame({ title, head, children }: { title: string; head?: ReactNode; children: ReactNode }) {
  return (
    <>
      <nav className="subnav" aria-label={T.settings.title}>
        {TABS.map(({ to, text }) => (
          <Link key={to} to={to} activeProps={{ className: 'active' }}>
            {text}
          </Link>
        ))}
      </nav>
      <div className="page-head">
        <h1>{title}</h1>
        <span className="grow" />
        {head}
      </div>
      {children}
    </>
  );
}
