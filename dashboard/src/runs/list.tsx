import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type RefObject, useMemo, useRef } from 'react';
import { useNamed, useNames } from '../api/names.ts';
import { type AllRunsFilter, allRunsQuery } from '../api/runs.ts';
import { RUN_STATES } from '../api/states.ts';
import { Heading } from '../app/heading.tsx';
import { useKeys } from '../app/keys.ts';
import { T } from '../english.ts';
import { Choice } from '../parts/choice.tsx';
import { EmitterChoice } from '../parts/filters/emitter-choice.tsx';
import { NoMatch } from '../parts/filters/no-match.tsx';
import { SearchField } from '../parts/filters/search-field.tsx';
import { More } from '../parts/listed.tsx';
import { Rows } from '../parts/lists/rows.tsx';
import { PERIODS } from '../parts/period.ts';
import { Empty, Unready } from '../parts/state.tsx';
import { At } from '../parts/time.tsx';
import { codesQuery } from './codes.ts';
import { RunRow } from './run-rows.tsx';

const USUAL = 10;

/** The runs of all workflows and sources, newest first. */
export function RunList() {
  const field = useRef<HTMLInputElement>(null);
  const search = useSearch({ from: '/shell/runs' });
  const listed = useInfiniteQuery(allRunsQuery(search));
  const runs = useMemo(() => listed.data?.pages.flatMap(({ data }) => data) ?? [], [listed.data]);
  const names = useNames();
  useKeys({ '/': () => field.current?.focus() });
  // Until the answer to other filters comes, what is shown is of the ones before; that these found nothing says nothing.
  const isOther = listed.isPlaceholderData;
  // A search that has found nothing yet goes on.
  const isMissing = !listed.data || (runs.length === 0 && (isOther || listed.hasNextPage));
  const searchedMs = listed.data?.pages.at(-1)?.page_info.searched_until_ms;
  return (
    <>
      <div className="page-head">
        <Heading text={T.runs.title} />
      </div>
      <Filters search={search} field={field} />
      <section className={isOther ? 'card is-other' : 'card'} aria-label={T.runs.title} aria-busy={listed.isFetching}>
        {isMissing && <Unready of={{ ...listed, isPending: true }} rows={USUAL} />}
        {!isMissing && runs.length === 0 && <NoRuns isFiltered={Object.keys(search).length > 0} />}
        <Rows
          all={runs}
          row={(run) => <RunRow key={run.id} run={run} where={names(run.workflow_id ?? run.source_id ?? '')} />}
        />
        {listed.hasNextPage && search.q !== undefined && !isOther && typeof searchedMs === 'number' && (
          <p className="card-body soft" role="status">
            {T.runs.searchedUntil} <At ms={searchedMs} />
          </p>
        )}
      </section>
      <More of={listed} />
    </>
  );
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) return <Empty icon="runs" title={T.runs.none} text={T.runs.noneText} command={T.overview.command} />;
  return <NoMatch title={T.runs.noneMatch} list="/runs" />;
}

interface FiltersProps {
  readonly search: AllRunsFilter;
  readonly field: RefObject<HTMLInputElement | null>;
}

/** Filters stand in the address, so that a view can be sent to another person. */
function Filters({ search, field }: FiltersProps) {
  const navigate = useNavigate({ from: '/runs' });
  const { workflows, sources } = useNamed();
  const put = (change: { readonly [Name in keyof AllRunsFilter]?: AllRunsFilter[Name] | undefined }): void => {
    void navigate({ search: (before) => ({ ...before, ...change }) as AllRunsFilter, replace: true });
  };
  return (
    <search className="filters">
      <SearchField field={field} label={T.runs.search} value={search.q} put={(q) => put({ q })} />
      <Choice
        label={T.runs.state}
        all={T.runs.allStates}
        value={search.state}
        options={RUN_STATES}
        textOf={(one) => T.states[one] ?? one}
        choose={(state) => put({ state })}
      />
      <EmitterChoice
        label={T.runs.emitter}
        all={T.runs.allEmitters}
        named={[workflows, sources]}
        value={search.emitter}
        choose={(emitter) => put({ emitter })}
      />
      <CodeChoice emitter={search.emitter} value={search.code} choose={(code) => put({ code })} />
      <Choice
        label={T.runs.begunWithin}
        all={T.errors.anyTime}
        value={search.within}
        options={PERIODS}
        textOf={(one) => T.common.periods[one]}
        choose={(within) => put({ within })}
      />
    </search>
  );
}

interface CodeChoiceProps {
  readonly emitter: string | undefined;
  readonly value: string | undefined;
  readonly choose: (code: string | undefined) => void;
}

/** One of the codes that errors have. One that the address names stands there, too, when no error has it. */
function CodeChoice({ emitter, value, choose }: CodeChoiceProps) {
  const { data: codes = [] } = useQuery(codesQuery(emitter));
  const options = value === undefined || codes.includes(value) ? codes : [value, ...codes];
  return (
    <Choice
      label={T.runs.code}
      all={T.runs.allCodes}
      value={value}
      options={options}
      textOf={(one) => one}
      choose={choose}
    />
  );
}
