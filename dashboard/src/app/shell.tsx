import { Menu, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { SIGNED_OUT } from '../api/errand.ts';
import { sessionQuery, signOut } from '../api/session.ts';
import { markSignedIn } from '../api/signed-in.ts';
import { deliveryQuery } from '../api/webhooks.ts';
import { T } from '../english.ts';
import icon from '../icon.svg';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Toasts, toastError } from '../parts/toast.tsx';
import { queryClient } from './client.ts';
import { useKeys } from './keys.ts';
import { later } from './later.tsx';
import { useGrownLists, useLiveErrors } from './live.ts';
import { Live } from './live-state.ts';
import { Trouble } from './trouble.tsx';

/** Dialogs come when they are first opened. */
const Help = later(async () => (await import('./help.tsx')).Help);
const Palette = later(async () => (await import('../palette/palette.tsx')).Palette);

/** `holds`: what else of the address's beginnings is a part of it. */
const LINKS = [
  { to: '/', icon: 'overview', text: T.nav.overview },
  { to: '/errors', holds: ['/emitters/'], icon: 'errors', text: T.nav.errors },
  { to: '/workflows', holds: ['/@'], icon: 'workflows', text: T.nav.workflows },
  { to: '/runs', icon: 'runs', text: T.nav.runs },
  { to: '/sources', icon: 'sources', text: T.nav.sources },
  { to: '/webhooks', holds: ['/deliveries'], icon: 'webhooks', text: T.nav.webhooks },
  { to: '/subscriptions', icon: 'subscriptions', text: T.nav.subscriptions },
  { to: '/operations', icon: 'replay', text: T.nav.operations },
  { to: '/notices', icon: 'notices', text: T.nav.notices },
  {
    to: '/settings',
    holds: ['/keys', '/accounts', '/data-stores', '/heartbeats'],
    icon: 'settings',
    text: T.nav.settings,
  },
] as const satisfies readonly { to: string; holds?: readonly string[]; icon: IconName; text: string }[];

function isAt(path: string, { to, holds = [] }: { to: string; holds?: readonly string[] }): boolean {
  if (to === '/') return path === '/';
  return path === to || path.startsWith(`${to}/`) || holds.some((start) => path.startsWith(start));
}

/** Returns the address by which the part of the dashboard is known: that of a mail is among the notices. */
function useWhere(): string {
  const path = useLocation({ select: ({ pathname }) => pathname });
  const [, id = ''] = /^\/deliveries\/([^/]+)/.exec(path) ?? [];
  const { data } = useQuery({ ...deliveryQuery(id), enabled: false });
  return data?.mail ? '/notices' : path;
}

export function Shell() {
  const navigate = useNavigate();
  const path = useWhere();
  const isLive = useLiveErrors();
  useGrownLists();
  const [wasLive, setWasLive] = useState(false);
  const [isHelp, setHelp] = useState(false);
  const [isMenu, setMenu] = useState(false);
  const [isPalette, setPalette] = useState(false);
  const menu = useRef<HTMLButtonElement>(null);
  const closeMenu = (): void => {
    setMenu(false);
    menu.current?.focus();
  };
  useEffect(() => setWasLive((before) => before || isLive), [isLive]);
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      setPalette(true);
    };
    // Before an editor takes it.
    window.addEventListener('keydown', hear, true);
    return () => window.removeEventListener('keydown', hear, true);
  }, []);
  useKeys({
    '?': () => setHelp(true),
    'g e': () => void navigate({ to: '/errors' }),
    'g o': () => void navigate({ to: '/' }),
    ...(isMenu && { Escape: closeMenu }),
  });
  useEffect(() => {
    const leave = (): void => {
      // Several requests are refused at once: this page is still there while the next one is loaded.
      if (window.location.pathname === '/sign-in') return;
      const next = window.location.pathname + window.location.search;
      queryClient.clear();
      markSignedIn(false);
      void navigate({ to: '/sign-in', search: { ...(next === '/' ? {} : { next }), ended: true } });
    };
    window.addEventListener(SIGNED_OUT, leave);
    return () => window.removeEventListener(SIGNED_OUT, leave);
  }, [navigate]);
  return (
    <Live.Provider value={isLive}>
      <a className="skip" href="#content">
        {T.nav.skip}
      </a>
      <div className="shell">
        <header className="side">
          <Link to="/" className="brand" aria-label={T.product}>
            <img src={icon} alt="" />
            <span>{T.product}</span>
          </Link>
          <button type="button" className="search-button" onClick={() => setPalette(true)}>
            <Icon name="search" size={15} />
            <span>{T.palette.title}</span>
            <kbd>{T.palette.hint}</kbd>
          </button>
          <button
            ref={menu}
            type="button"
            className="menu-button"
            aria-label={T.nav.menu}
            aria-expanded={isMenu}
            onClick={() => setMenu(!isMenu)}
          >
            <Icon name="menu" />
          </button>
          <nav aria-label={T.nav.label} className={isMenu ? 'is-open' : undefined}>
            {LINKS.map((link) => (
              <Link
                key={link.to}
                to={link.to}
                className={isAt(path, link) ? 'nav-link active' : 'nav-link'}
                aria-current={isAt(path, link) ? 'page' : undefined}
                onClick={() => setMenu(false)}
              >
                <Icon name={link.icon} />
                {link.text}
              </Link>
            ))}
          </nav>
          <div className="side-end">
            <a className="nav-link" href="/docs">
              <Icon name="docs" />
              {T.nav.docs}
            </a>
            <Who />
          </div>
        </header>
        <main className="main" id="content">
          <div className="main-inner">
            <Outlet />
          </div>
        </main>
      </div>
      <Trouble isAway={wasLive && !isLive} />
      <Toasts />
      {isHelp && <Help close={() => setHelp(false)} />}
      {isPalette && <Palette close={() => setPalette(false)} />}
    </Live.Provider>
  );
}

function Who() {
  const { data } = useQuery(sessionQuery);
  // To stop transitions, a style would be put into the page, which the content policy refuses.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  if (!data) return null;
  const { owner, key } = data;
  const leave = async (): Promise<void> => {
    try {
      await signOut();
    } catch (error) {
      return toastError(error);
    }
    // A new page: nothing of this owner stays in memory.
    window.location.assign('/sign-in');
  };
  return (
    <Menu position="top-start" width={230}>
      <Menu.Target>
        <button type="button" className="who" aria-label={T.session.as(owner.name)}>
          <span className="who-mark" data-letter={[...owner.name][0]?.toUpperCase()} />
          <span className="who-name cut">{owner.name}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {T.session.as(owner.name)}, {T.session.key_(key.label)}
        </Menu.Label>
        {(['auto', 'light', 'dark'] as const).map((scheme) => (
          <Menu.RadioItem
            key={scheme}
            value={scheme}
            checked={colorScheme === scheme}
            checkIcon={<Icon name="check" size={16} />}
            onChange={() => setColorScheme(scheme)}
          >
            {T.session.theme[scheme]}
          </Menu.RadioItem>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="out" size={16} />} onClick={leave}>
          {T.session.out}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
