import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { Heading } from '../app/heading.tsx';
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
  const tabs = useRef<HTMLElement>(null);
  // On a phone the tabs are wider than the screen: the one of this page is in sight.
  useEffect(() => {
    const { current: nav } = tabs;
    const active = nav?.querySelector<HTMLElement>('.active');
    if (nav && active) nav.scrollLeft = active.offsetLeft - (nav.clientWidth - active.offsetWidth) / 2;
  }, []);
  return (
    <>
      <nav ref={tabs} className="subnav" aria-label={T.settings.title}>
        {TABS.map(({ to, text }) => (
          <Link key={to} to={to} activeProps={{ className: 'active' }}>
            {text}
          </Link>
        ))}
      </nav>
      <div className="page-head">
        <Heading text={title} />
        <span className="grow" />
        {head}
      </div>
      {children}
    </>
  );
}
