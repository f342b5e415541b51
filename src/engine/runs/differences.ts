// What differs between the events of a group's errors and those of successful runs of the same workflow or source, and between
// the last good run and the first bad one. It looks at a bounded number of events that are stored anyway, and says at how many.

import { text } from '../../domain/bytes.ts';
import { COMPARED } from '../../domain/errors/compared.ts';
import {
  type ComparedCount,
  type ComparedRun,
  type Differences,
  differencesOf,
  EventFacts,
  shapeChanges,
  shapeOf,
} from '../../domain/errors/differences.ts';
import type { ErrorGroup } from '../../domain/errors/group.ts';
import { type StepDiff, stepDiffs } from '../../domain/errors/line-diff.ts';
import { detailOf } from '../../domain/failure.ts';
import { msOf } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { ListedRun } from '../../store/contract/records.ts';
import type { RunSearch } from '../../store/contract/search.ts';
import type { Store } from '../../store/contract/store.ts';
import { Pace } from './pace.ts';

export interface DifferenceDeps {
  /** What is hidden is compared as it is shown: a difference would tell it. */
  readonly shown: Pick<
    Store,
    'getErrorGroup' | 'searchErrors' | 'searchRuns' | 'getEmission' | 'getDeployment' | 'exists'
  >;
}

const PAGE = 100;

export function createDifferences({ shown: store }: DifferenceDeps) {
  async function differences(ownerId: string, groupId: string): Promise<Differences> {
    const found = await store.getErrorGroup(ownerId, groupId);
    if (!found) throw new Refusal('not_found', `there is no group of errors ${groupId}`);
    const { group } = found;
    const pace = new Pace();
    const [failures, failed] = await failuresOf(group, pace);
    const [successes, passed] = await successesOf(group, pace);
    const bad = await firstBadOf(group);
    const good = await lastGoodOf(group);
    return {
      group,
      failures,
      successes,
      fields: pace.do(() => differencesOf(failed, passed)),
      lastGood: good?.place ?? null,
      firstBad: bad?.place ?? null,
      code: good && bad ? await codeDiff(ownerId, good.place, bad.place) : null,
      shape: good && bad ? shapeChanges(shapeOf(good.event), shapeOf(bad.event)) : null,
    };
  }

  async function failuresOf({ ownerId, id: groupId }: ErrorGroup, pace: Pace): Promise<[ComparedCount, EventFacts]> {
    const facts = new EventFacts();
    let bytes = 0;
    for (let after: number | null | undefined; after !== null; ) {
      const page = { limit: PAGE, ...(after === undefined ? {} : { after }) };
      const { items, next } = await store.searchErrors({ ownerId, groupId }, page, true);
      for (const { emission } of items) {
        if (facts.events === COMPARED.failures || bytes >= COMPARED.bytes) return [looked(facts, true), facts];
        bytes += emission.body?.byteLength ?? 0;
        const { body } = emission;
        if (body) pace.do(() => facts.add(originalOf(body)));
        await pace.rest();
      }
      after = next;
    }
    return [looked(facts, false), facts];
  }

  /**
   * Reads the successes until the last error, and later ones of the same code: others may have come through because the code
   * was corrected.
   */
  async function successesOf(group: ErrorGroup, pace: Pace): Promise<[ComparedCount, EventFacts]> {
    const { ownerId, emitterId: runnableId, lastEntry, lastDeployment } = group;
    const facts = new EventFacts();
    const bounds = { bytes: 0, pace };
    const search = { ownerId, runnableId, state: 'succeeded' } as const;
    const [last, ofLast] = [msOf(lastEntry), (run: ListedRun) => run.deploymentId === lastDeployment];
    const until = await addSuccesses(facts, bounds, { search: { ...search, untilMs: last + 1 }, accepts: () => true });
    const later = await addSuccesses(facts, bounds, { search: { ...search, sinceMs: last + 1 }, accepts: ofLast });
    return [looked(facts, until || later), facts];
  }

  /** Adds events of runs, newest first, within the bounds, and returns whether there are more. Replays are of failed events. */
  async function addSuccesses(
    facts: EventFacts,
    bounds: { bytes: number; readonly pace: Pace },
    { search, accepts }: { search: RunSearch; accepts: (run: ListedRun) => boolean },
  ): Promise<boolean> {
    for await (const { runs, isLast } of pagesOf(search)) {
      for (const run of runs.filter(accepts)) {
        if (facts.events === COMPARED.successes || bounds.bytes >= COMPARED.bytes) return true;
        const emission = await store.getEmission(search.ownerId, run.entry);
        bounds.bytes += emission?.body.byteLength ?? 0;
        if (emission) bounds.pace.do(() => facts.add(parsed(emission.body)));
        await bounds.pace.rest();
      }
      if (isLast) return false;
    }
    return true;
  }

  /** Yields runs that are no replays, newest first, in pages, which may be empty; ends after `COMPARED.runs` runs. */
  async function* pagesOf(search: RunSearch): AsyncGenerator<{ runs: readonly ListedRun[]; isLast: boolean }> {
    let after: number | null | undefined;
    for (let read = 0; after !== null && read < COMPARED.runs; read += PAGE) {
      const found = await store.searchRuns(search, { limit: PAGE, ...(after === undefined ? {} : { after }) });
      after = found.next;
      yield { runs: found.items.filter(({ replay }) => !replay), isLast: after === null };
    }
  }

  async function firstBadOf({ ownerId, firstEntry }: ErrorGroup): Promise<KnownEvent | null> {
    const emission = await store.getEmission(ownerId, firstEntry);
    if (!emission) return null;
    const { deployment_id: deploymentId } = detailOf(emission.body).context;
    return { place: { run: emission.causeRun, entry: firstEntry, deploymentId }, event: originalOf(emission.body) };
  }

  async function lastGoodOf({ ownerId, emitterId, firstEntry }: ErrorGroup): Promise<KnownEvent | null> {
    const search = { ownerId, runnableId: emitterId, state: 'succeeded', untilMs: msOf(firstEntry) + 1 } as const;
    // A page without one may only say that the workflow had failed, or was replayed, for long.
    for await (const { runs } of pagesOf(search)) {
      const good = runs.find(({ entry }) => entry < firstEntry);
      if (!good) continue;
      const emission = await store.getEmission(ownerId, good.entry);
      return emission ? { place: placeOf(good), event: parsed(emission.body) } : null;
    }
    return null;
  }

  async function codeDiff(ownerId: string, good: ComparedRun, bad: ComparedRun): Promise<readonly StepDiff[] | null> {
    const [before, after] = [good.deploymentId, bad.deploymentId];
    if (before === null || after === null || before === after) return null;
    const [old, young] = await Promise.all([before, after].map((id) => store.getDeployment(ownerId, id)));
    if (!old || !young) return null;
    return stepDiffs(old.steps, young.steps);
  }

  return { differences };
}

interface KnownEvent {
  readonly place: ComparedRun;
  readonly event: unknown;
}

const placeOf = ({ run, entry, deploymentId }: ListedRun): ComparedRun => ({ run, entry, deploymentId });

const looked = ({ events }: EventFacts, isPart: boolean): ComparedCount => ({ count: events, isPart });

/** Returns an event as a value. Events are JSON; what is none is compared as the text that it is. */
function parsed(body: Uint8Array): unknown {
  const json = text(body);
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function originalOf(body: Uint8Array): unknown {
  const error = parsed(body);
  return typeof error === 'object' && error !== null && 'original_event' in error ? error.original_event : null;
}
