import { Button, PasswordInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ProblemError } from '../../../src/client/client.ts';
import { beginSession } from '../api/errand.ts';
import { sessionQuery, signIn } from '../api/session.ts';
import { MARK } from '../api/signed-in.ts';
import { T } from '../english.ts';
import icon from '../icon.svg';
import { Command } from '../parts/copy.tsx';
import { queryClient } from './client.ts';
import { useTitle } from './heading.tsx';

/** Says what to do instead when the key is good, but not for this. */
function faultText(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  return error instanceof ProblemError && error.status === 403 ? `${T.session.needsRead} ${said}.` : said;
}

export function SignIn() {
  const { next = '/', ended } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  useTitle(T.session.submit);
  const [key, setKey] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const used = useRef('');

  // The documentation is no part of this page.
  const leave = async (): Promise<void> => {
    if (/^\/docs\b/.test(next)) window.location.replace(next);
    else await navigate({ to: next, replace: true });
  };

  const go = async (by: { api_key: string } | { link: string }): Promise<void> => {
    setBusy(true);
    setFault(null);
    try {
      const session = await signIn(by);
      // What an earlier owner saw in this page is gone before the next one sees anything.
      queryClient.clear();
      queryClient.setQueryData(sessionQuery.queryKey, session);
      await leave();
    } catch (error) {
      setFault(faultText(error));
    } finally {
      setBusy(false);
    }
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the link is used once, when the page opens
  useEffect(() => {
    const link = window.location.hash.slice(1);
    if (link === '' || used.current === link) return;
    used.current = link;
    window.history.replaceState(null, '', window.location.pathname + window.location.search);
    void go({ link });
  }, []);

  useEffect(() => {
    // A person has signed in in another tab.
    const hear = ({ key: changed, newValue }: StorageEvent): void => {
      if (changed !== MARK || newValue === null) return;
      beginSession();
      queryClient.clear();
      void leave();
    };
    window.addEventListener('storage', hear);
    return () => window.removeEventListener('storage', hear);
  });

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const trimmed = key.trim();
    if (trimmed === '') setFault(T.session.missing);
    else void go({ api_key: trimmed });
  };

  return (
    <main className="sign-in">
      <div className="sign-in-box">
        <h1 className="brand">
          <img src={icon} alt="" />
          <span>{T.product}</span>
        </h1>
        <form className="card" onSubmit={submit}>
          <div className="card-body">
            {ended && (
              <p className="warn" role="alert">
                {T.session.ended}
              </p>
            )}
            <PasswordInput
              label={T.session.key}
              description={T.session.keyHint}
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
              error={fault}
              autoComplete="current-password"
              autoFocus
            />
            <Button type="submit" loading={isBusy}>
              {T.session.submit}
            </Button>
            <div className="soft">
              <p>{T.session.where}</p>
              <Command text={T.session.command} />
              <p style={{ marginTop: 10 }}>{T.session.restart}</p>
            </div>
          </div>
        </form>
        <p className="sign-in-foot">
          <a href="/docs">{T.nav.docs}</a>
        </p>
      </div>
    </main>
  );
}
