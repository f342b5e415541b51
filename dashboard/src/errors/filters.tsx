import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { assigneesQuery } from '../api/errors.ts';
import { useNamed, useNames } from '../api/names.ts';
import { useIsLive } from '../app/live-state.ts';
import { T } from '../english.ts';
import { Choice } from '../parts/choice.tsx';
import { Icon } from '../parts/icon.tsx';
import { PERIODS } from '../parts/period.ts';
import { ERROR_STATES, type ErrorSearch } from './search.ts';

const SETTLE_MS = 250;

/** Filters stand in the address, so that a view can be sent to another person. */
export function Filters({ field }: { field: RefObject<HTMLInputElement | null> }) {
  const search = useSearch({ from: '/shell/errors' });
  const navigate = useNavigate({ from: '/errors' });
  const isLive = useIsLive();
  const wasLive = useRef(false);
  wasLive.current ||= isLive;
  const [text, setText] = useState(search.q ?? '');
  /** What the address was given last: it takes a moment, in which more may be typed. */
  const sent = useRef(text);
  const put = (change: Partial<Record<keyof ErrorSearch, string | undefined>>): void => {
    void navigate({ search: (before) => ({ ...before, ...change }) as ErrorSearch, replace: true });
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was typed changes the address
  useEffect(() => {
    if (text === (search.q ?? '')) return;
    const timer = setTimeout(() => {
      sent.current = text;
      put({ q: text === '' ? undefined : text });
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  // The address may change without typing: back, or "clear".
  useEffect(() => {
    const q = search.q ?? '';
    if (q !== sent.current) setText(q);
    sent.current = q;
  }, [search.q]);

  const state = search.state ?? 'open';
  return (
    <search className="filters">
      <div className="tabs">
        {ERROR_STATES.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={state === one}
            onClick={() => put({ state: one === 'open' ? undefined : one })}
          >
            {one === 'all' ? T.errors.all : T.errors.states[one]}
          </button>
        ))}
      </div>
      <TextInput
        ref={field}
        className="search"
        size="xs"
        type="search"
        aria-label={T.errors.search}
        placeholder={T.errors.search}
        leftSection={<Icon name="search" size={15} />}
        rightSection={<kbd>/</kbd>}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <EmitterChoice value={search.emitter} choose={(emitter) => put({ emitter })} />
      <AssigneeChoice value={search.assignee} choose={(assignee) => put({ assignee })} />
      <Choice
        label={T.errors.seenWithin}
        all={T.errors.anyTime}
        value={search.within}
        options={PERIODS}
        textOf={(one) => T.common.periods[one]}
        choose={(within) => put({ within })}
      />
      <Button
        size="xs"
        variant="default"
        onClick={() => put({ sort: search.sort === 'count' ? undefined : 'count' })}
        aria-label={`${T.errors.sort}: ${T.errors.sorts[search.sort ?? 'last_seen']}`}
        rightSection={<Icon name="down" size={14} />}
      >
        {T.errors.sorts[search.sort ?? 'last_seen']}
      </Button>
      <span className={isLive ? 'live is-on' : wasLive.current ? 'live' : 'live is-unknown'}>
        <i aria-hidden="true" />
        {isLive || !wasLive.current ? T.errors.live : T.errors.offline}
      </span>
    </search>
  );
}

interface EmitterChoiceProps {
  readonly value: string | undefined;
  readonly choose: (emitter: string | undefined) => void;
}

/** Workflows first, then what else errors come from. One that the address names stands there, too, when it is deleted. */
function EmitterChoice({ value, choose }: EmitterChoiceProps) {
  const { workflows, sources, webhooks, heartbeats } = useNamed();
  const names = useNames();
  const ids = [workflows, sources, webhooks, heartbeats].flatMap((named) => named.map(({ id }) => id));
  const options = value === undefined || ids.includes(value) ? ids : [value, ...ids];
  const { emitter, allEmitters } = T.errors;
  return <Choice label={emitter} all={allEmitters} value={value} options={options} textOf={names} choose={choose} />;
}

interface AssigneeChoiceProps {
  readonly value: string | undefined;
  readonly choose: (assignee: string | undefined) => void;
}

const UNASSIGNED = 'none';

/** Nothing until a group is assigned to a person. */
function AssigneeChoice({ value, choose }: AssigneeChoiceProps) {
  const { data = [] } = useQuery(assigneesQuery());
  if (data.length === 0 && value === undefined) return null;
  const all = [UNASSIGNED, ...data.map(({ assignee }) => assignee)];
  const options = value === undefined || all.includes(value) ? all : [...all, value];
  const { assignee: label, allAssignees, unassigned } = T.errors;
  return (
    <Choice
      label={label}
      all={allAssignees}
      value={value}
      options={options}
      textOf={(one) => (one === UNASSIGNED ? unassigned : one)}
      choose={choose}
    />
  );
}
