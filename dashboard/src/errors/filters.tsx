import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type RefObject, useRef } from 'react';
import { assigneesQuery } from '../api/errors.ts';
import { useNamed } from '../api/names.ts';
import { useIsLive } from '../app/live-state.ts';
import { T } from '../english.ts';
import { Choice } from '../parts/choice.tsx';
import { EmitterChoice } from '../parts/filters/emitter-choice.tsx';
import { SearchField } from '../parts/filters/search-field.tsx';
import { Icon } from '../parts/icon.tsx';
import { PERIODS } from '../parts/period.ts';
import { ERROR_STATES, type ErrorSearch } from './search.ts';

/** Filters stand in the address, so that a view can be sent to another person. */
export function Filters({ field }: { field: RefObject<HTMLInputElement | null> }) {
  const search = useSearch({ from: '/shell/errors' });
  const navigate = useNavigate({ from: '/errors' });
  const { workflows, sources, webhooks, heartbeats } = useNamed();
  const isLive = useIsLive();
  const wasLive = useRef(false);
  wasLive.current ||= isLive;
  const put = (change: Partial<Record<keyof ErrorSearch, string | undefined>>): void => {
    void navigate({ search: (before) => ({ ...before, ...change }) as ErrorSearch, replace: true });
  };
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
      <SearchField field={field} label={T.errors.search} value={search.q} put={(q) => put({ q })} />
      <EmitterChoice
        label={T.errors.emitter}
        all={T.errors.allEmitters}
        named={[workflows, sources, webhooks, heartbeats]}
        value={search.emitter}
        choose={(emitter) => put({ emitter })}
      />
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
