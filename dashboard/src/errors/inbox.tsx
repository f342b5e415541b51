import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { ListedErrorGroup } from '../../../src/client/client.ts';
import { groupsQuery } from '../api/errors.ts';
import { useNames } from '../api/names.ts';
import { Heading } from '../app/heading.tsx';
import { useKeys } from '../app/keys.ts';
import { later } from '../app/later.tsx';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { NoMatch } from '../parts/filters/no-match.tsx';
import { Sparkline } from '../parts/hours.tsx';
import { More } from '../parts/listed.tsx';
import { Rows } from '../parts/lists/rows.tsx';
import { Badge, Empty, Unready } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago } from '../parts/time.tsx';
import { toast } from '../parts/toast.tsx';
import { mutedFor, useGroupActs } from './acts.ts';
import { Ends, hasEnd } from './ends.tsx';
import { Filters } from './filters.tsx';
import { messageOf, stepOf } from './fingerprint.ts';
import { useNews } from './news.ts';
import { usePlace } from './place.ts';
import { type MoreGroups, Selection, SelectRow } from './selection.tsx';

/** They come when they are first asked for. */
const AssignDialog = later(async () => (await import('./assign.tsx')).AssignDialog);
const ReplayNewest = later(async () => (await import('./replay-newest.tsx')).ReplayNewest);
const FoundErrors = later(async () => (await import('./found-errors.tsx')).FoundErrors);

const ROW_PX = 62;
const USUAL = 10;
const NUMBER = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

export function Inbox() {
  const field = useRef<HTMLInputElement>(null);
  const { state = 'open', ...search } = useSearch({ from: '/shell/errors' });
  const listed = useInfiniteQuery(groupsQuery({ ...search, state: state === 'all' ? undefined : state }));
  const groups = useMemo(() => listed.data?.pages.flatMap(({ data }) => data) ?? [], [listed.data]);
  const mayWrite = useMay('write');
  useKeys({ '/': () => field.current?.focus() });
  // Until the answer to other filters comes, what is shown is of the ones before; that these found nothing says nothing.
  const isOther = listed.isPlaceholderData;
  // A search that has found nothing yet goes on.
  const isMissing = !listed.data || (groups.length === 0 && (isOther || listed.hasNextPage));
  const news = useNews(groups, isOther || !listed.data ? '' : JSON.stringify({ ...search, state }));
  const isFiltered =
    [search.q, search.emitter, search.assignee, search.within].some((one) => one !== undefined) || state !== 'open';
  return (
    <>
      <div className="page-head">
        <Heading text={T.errors.title} />
        <span className="grow" />
        <span className="soft key-hint" aria-hidden="true">
          {mayWrite ? T.errors.keys : T.errors.keysReading}
        </span>
      </div>
      <Filters field={field} />
      <p className="hidden-visually" role="status">
        <Foreign>{news}</Foreign>
      </p>
      <section
        className={isOther ? 'card groups is-other' : 'card groups'}
        aria-label={T.errors.title}
        aria-busy={listed.isFetching}
      >
        {isMissing && <Unready of={{ ...listed, isPending: true }} rows={USUAL} />}
        {!isMissing && groups.length === 0 && <NoGroups isFiltered={isFiltered} q={search.q} />}
        {groups.length > 0 && <Groups all={groups} more={listed} />}
      </section>
      <More of={listed} />
      {search.q !== undefined && !isMissing && !isOther && (
        <FoundErrors q={search.q} emitter={search.emitter} within={search.within} hasGroups={groups.length > 0} />
      )}
    </>
  );
}

/** Groups are found by what their errors have in common: what a single event has, such as the number of an order, its run has. */
function NoGroups({ isFiltered, q }: { isFiltered: boolean; q: string | undefined }) {
  if (!isFiltered)
    return <Empty icon="check" title={T.errors.none} text={T.errors.noneText} command={T.errors.command} />;
  return (
    <NoMatch title={T.errors.noneMatch} list="/errors">
      {q !== undefined && (
        <Link to="/runs" search={{ q, state: 'failed' }}>
          {T.errors.searchRuns}
        </Link>
      )}
    </NoMatch>
  );
}

interface GroupsProps {
  readonly all: readonly ListedErrorGroup[];
  readonly more: MoreGroups;
}

function Groups({ all, more }: GroupsProps) {
  const { at, move, open } = usePlace(all);
  const navigate = useNavigate();
  const acts = useGroupActs();
  const names = useNames();
  const mayWrite = useMay('write');
  const [ids, select] = useState<readonly string[]>([]);
  // A group that left the list is not changed unseen.
  const selected = all.filter(({ id }) => ids.includes(id));
  const toggleRow = (id: string): void => select(ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]);
  const here = all[at];
  /** Whom a key acts on: on what is selected; when nothing is, on the row that was chosen. */
  const meant = selected.length > 0 ? selected : here ? [here] : [];
  const [assigned, assign] = useState<readonly ListedErrorGroup[]>([]);
  const [replayed, replay] = useState<ListedErrorGroup | null>(null);
  const [steps, setSteps] = useState(0);
  const step = (by: number): void => {
    // The row takes the focus: Enter opens it from now on, and no longer presses what was used before.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    move(by);
    setSteps(steps + 1);
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Enter: () => here && void navigate({ to: '/errors/$groupId', params: { groupId: here.id } }),
    x: () => here && mayWrite && toggleRow(here.id),
    Escape: () => select([]),
    e: () => void toSelected(acts.toggleAll),
    m: () => void toSelected((groups) => acts.changeAll(groups, mutedFor(1), T.errors.muted)),
    a: () => mayWrite && assign(meant),
    r: () => {
      const [first, ...others] = meant;
      if (others.length > 0) toast(T.errors.replayOne, undefined, true);
      else if (first && acts.mayReplay(first)) replay(first);
    },
  });
  const toSelected = async (act: (groups: readonly ListedErrorGroup[]) => Promise<void>): Promise<void> => {
    if (meant.length > 0) await act(meant);
    select([]);
  };
  const { columns } = T.errors;
  return (
    <>
      {assigned.length > 0 && (
        <AssignDialog groups={assigned} acts={acts} close={() => assign([])} done={() => select([])} />
      )}
      {replayed && <ReplayNewest group={replayed} acts={acts} close={() => replay(null)} />}
      <div
        className={['group-head', mayWrite && 'has-select', selected.length > 0 && 'is-acting']
          .filter(Boolean)
          .join(' ')}
      >
        {mayWrite && (
          <Selection
            all={all}
            selected={selected}
            select={select}
            more={more}
            assign={() => assign(selected)}
            acts={acts}
          />
        )}
        {selected.length === 0 && (
          <>
            <span aria-hidden="true">{columns.error}</span>
            <span aria-hidden="true" className="where">
              {columns.where}
            </span>
            <span aria-hidden="true" className="trend">
              {columns.trend}
            </span>
            <span aria-hidden="true" className="end">
              {columns.count}
            </span>
            <span aria-hidden="true" className="end">
              {columns.seen}
            </span>
          </>
        )}
      </div>
      <Rows
        all={all}
        className="plain"
        rowPx={ROW_PX}
        at={at}
        row={(group, index) => (
          <li key={group.id}>
            <Row
              group={group}
              isAt={index === at}
              steps={steps}
              where={names(group.emitter_id)}
              isSelected={ids.includes(group.id)}
              open={() => open(group.id, index)}
              toggle={mayWrite ? () => toggleRow(group.id) : null}
            />
          </li>
        )}
      />
    </>
  );
}

/** What a person opened again has not come back. */
function isBack({ state, reopened }: ListedErrorGroup): boolean {
  return state === 'open' && Boolean(reopened) && reopened?.by !== 'person';
}

interface RowProps {
  readonly group: ListedErrorGroup;
  readonly isAt: boolean;
  /** Another number: keys have gone to the row. */
  readonly steps: number;
  readonly where: string;
  readonly isSelected: boolean;
  readonly open: () => void;
  /** Null: nothing can be done to what is selected. */
  readonly toggle: (() => void) | null;
}

function Row({ group, isAt, steps, where, isSelected, open, toggle }: RowProps) {
  const { fingerprint, state, count, assignee, hours = [] } = group;
  const classes = ['group-row', isAt && 'is-at', isSelected && 'is-selected', toggle && 'has-select'];
  const name = group.rule ?? fingerprint.code;
  const link = useRef<HTMLAnchorElement>(null);
  // What keys go to is read, and Tab goes on from there. What has the focus elsewhere keeps it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: also when it was there before
  useLayoutEffect(() => {
    if (isAt && document.activeElement === document.body) link.current?.focus({ preventScroll: true });
  }, [isAt, steps]);
  return (
    <div className={classes.filter(Boolean).join(' ')} aria-current={isAt || undefined}>
      {toggle && <SelectRow name={T.errors.select(name, where)} isSelected={isSelected} toggle={toggle} />}
      <div className="main-cell cut">
        <div className="group-title">
          <Link
            ref={link}
            to="/errors/$groupId"
            params={{ groupId: group.id }}
            className="cut"
            aria-label={`${name}, ${where}`}
            onClick={open}
          >
            <Foreign>{name}</Foreign>
          </Link>
          {state !== 'open' && <Badge state={state} text={T.errors.states[state]} />}
          {hasEnd(group) && (
            <span className="soft cut">
              {T.errors.until} <Ends group={group} />
            </span>
          )}
          {isBack(group) && <span className="badge warn">{T.errors.isBack}</span>}
        </div>
        <div className="group-message cut">
          <Foreign>{messageOf(fingerprint)}</Foreign>
        </div>
      </div>
      <div className="group-where">
        <div className="cut">
          <Foreign>{where}</Foreign>
        </div>
        <div className="soft cut">
          {stepOf(fingerprint)}
          {assignee !== null && <Foreign> · {assignee}</Foreign>}
        </div>
      </div>
      <div className="trend">
        <Sparkline hours={hours} label={T.errors.columns.trend} />
      </div>
      <div className="end count" title={T.errors.times(count.toLocaleString())}>
        {NUMBER.format(count)}
      </div>
      <div className="end soft">
        <Ago ms={group.last_seen_ms} />
      </div>
    </div>
  );
}
