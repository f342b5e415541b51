import { Button, Loader } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiError } from '../api/http.ts';
import { T } from '../english.ts';
import { Command } from './copy.tsx';
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
  const Title = isPage ? 'h1' : 'h2';
  return (
    <div className="empty">
      <Icon name={icon} size={30} />
      <Title>{title}</Title>
      {text && <p>{text}</p>}
      {command && <Command text={command} />}
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <div className="empty" role="status">
      <Loader size="sm" color="var(--accent)" />
      <span className="hidden-visually">{T.common.loading}</span>
    </div>
  );
}

export function Failed({ error, again }: { error: Error; again: () => void }) {
  const isGone = error instanceof ApiError && error.status === 404;
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
          <Button size="xs" variant="default" onClick={again}>
            {T.common.again}
          </Button>
        )}
      </div>
    </Empty>
  );
}
