import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { ProblemError } from '../../../src/client/client.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { Command } from './copy.tsx';
import { markSaid } from './failing.ts';
import { Icon, type IconName } from './icon.tsx';

const TONES: Readonly<Record<string, string>> = {
  succeeded: 'good',
  delivered: 'good',
  resolved: 'good',
  healthy: 'good',
  active: 'good',
  done: 'good',
  up: 'good',
  down: 'bad',
  failed: 'bad',
  exhausted: 'bad',
  open: 'bad',
  disabled: 'bad',
  failing: 'bad',
  told: 'good',
  under_way: 'accent',
  no_listener: 'warn',
  retrying: 'warn',
  held: 'warn',
  kept: 'warn',
  waiting: 'warn',
  muted: 'warn',
  withheld: 'warn',
  paused: 'warn',
  running: 'accent',
  sending: 'accent',
  queued: 'accent',
  pending: 'accent',
};

export function Badge({ state, text }: { state: string; text?: string }) {
  return <span className={`badge ${TONES[state] ?? ''}`}>{text ?? T.states[state] ?? state}</span>;
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: string;
  /** What to do next, to be copied. */
  readonly command?: string;
  /** It is all that the page has. */
  readonly isPage?: boolean;
  readonly children?: ReactNode;
}

export function Empty({ icon, title, text, command, isPage = false, children }: EmptyProps) {
  return (
    <div className="empty">
      <Icon name={icon} size={30} />
      {isPage ? <Heading text={title} /> : <h2>{title}</h2>}
      {text && <p>{text}</p>}
      {command && <Command text={command} />}
      {children}
    </div>
  );
}

interface LoadingProps {
  /** How many rows usually come: the place is kept for them, so that what is below stays where it is. */
  readonly rows?: number;
}

/** Shows nothing at first: most answers come before a person has seen that something is missing. */
export function Loading({ rows = 3 }: LoadingProps) {
  return (
    <div className="skeleton" role="status">
      {Array.from({ length: rows }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
        <i key={at} aria-hidden="true" />
      ))}
      <span className="hidden-visually">{T.common.loading}</span>
    </div>
  );
}

/** The outline of a page. */
export function LoadingPage() {
  return (
    <div className="skeleton is-page" role="status">
      <i aria-hidden="true" className="is-title" />
      <div className="card" aria-hidden="true">
        <i />
        <i />
        <i />
        <i />
        <i />
      </div>
      <span className="hidden-visually">{T.common.loading}</span>
    </div>
  );
}

interface FailedProps {
  readonly error: Error;
  readonly again: () => void;
  readonly isBusy?: boolean;
}

export function Failed({ error, again, isBusy = false }: FailedProps) {
  const isGone = error instanceof ProblemError && error.status === 404;
  useEffect(() => markSaid(error), [error]);
  return (
    <Empty
      icon={isGone ? 'search' : 'errors'}
      title={isGone ? T.common.gone : T.common.failed}
      text={isGone ? T.common.goneText : error.message}
    >
      <div className="actions">
        {isGone ? (
          <Link to="/" className="button-link">
            {T.common.home}
          </Link>
        ) : (
          <Button size="xs" variant="default" loading={isBusy} onClick={again}>
            {T.common.again}
          </Button>
        )}
      </div>
    </Empty>
  );
}

/** What is asked for: a query, or several that are shown together. */
export interface Asked {
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly isFetching: boolean;
  readonly refetch: () => unknown;
}

/** Returns several queries as one: it is there when each is, and asks again for those that failed. */
export function together(all: readonly Asked[]): Asked {
  const failed = all.filter(({ error, isPending }) => error !== null && !isPending);
  return {
    error: failed[0]?.error ?? null,
    isPending: failed.length === 0 && all.some(({ isPending }) => isPending),
    isFetching: all.some(({ isFetching }) => isFetching),
    refetch: () => failed.map(({ refetch }) => refetch()),
  };
}

interface UnreadyProps extends LoadingProps {
  readonly of: Asked;
  readonly isPage?: boolean;
}

/** Stands for what is not there: it is loaded, or could not be. A failure stays while it is tried again. */
export function Unready({ of: { error, isPending, isFetching, refetch }, rows, isPage = false }: UnreadyProps) {
  const last = useRef<Error | null>(null);
  if (error) last.current = error;
  else if (!isPending) last.current = null;
  if (last.current) return <Failed error={last.current} isBusy={isFetching} again={() => void refetch()} />;
  if (!isPending) return null;
  return isPage ? <LoadingPage /> : <Loading rows={rows} />;
}
