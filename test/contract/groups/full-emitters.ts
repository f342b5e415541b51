// Emitters whose errors would make groups without end.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explained } from '../../../src/domain/errors/fingerprint.ts';
import type { ErrorGroup } from '../../../src/domain/errors/group.ts';
import { failureOfReport } from '../../../src/domain/failure.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Workflow } from '../../../src/domain/resource.ts';
import type { GroupPlace } from '../../../src/store/contract/error-groups.ts';
import { defined, type Harness, none } from '../fixtures.ts';
import { redeployed, whole } from '../log/grouping.ts';
import { Stage } from '../stage.ts';

/** Errors that are captured at a time: so many may be written together, before any of them is known. */
const AT_ONCE = 100;

/** A word without digits: the template keeps it. */
const wordOf = (n: number): string =>
  [...n.toString(26)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 26))).join('');

async function report(stage: Stage, workflow: Workflow, message: string): Promise<number> {
  const about = { code: 'Error', stack: '', step: '', tsMs: null, context: null, originalEvent: null };
  const by = {
    workflow,
    originId: stage.owner.id,
    sourceType: 'API',
    verified: true,
    nowMs: stage.clock.nowMs(),
  } as const;
  const made = failureOfReport({ message, ...about }, { ...by, eventId: stage.ids.next('ev_') });
  return (await stage.store.append(made, none())).entry;
}

async function reportAll(stage: Stage, workflow: Workflow, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += AT_ONCE) {
    const words = Array.from({ length: Math.min(AT_ONCE, to - n) }, (_, i) => wordOf(n + i));
    await Promise.all(words.map((word) => report(stage, workflow, `no ${word}`)));
  }
}

async function allGroups(stage: Stage, { id: emitterId }: Workflow): Promise<readonly ErrorGroup[]> {
  const found: ErrorGroup[] = [];
  for (let after: GroupPlace | undefined; ; ) {
    const page = { limit: 100, ...(after === undefined ? {} : { after }) };
    const { items } = await stage.store.listErrorGroups(
      { ownerId: stage.owner.id, emitterId, sort: 'last_seen' },
      page,
    );
    found.push(...items);
    const last = items.at(-1);
    if (!last || items.length < 100) return found;
    after = { id: last.id, value: last.lastEntry };
  }
}

const sum = (groups: readonly ErrorGroup[]): number => groups.reduce((total, { count }) => total + count, 0);

const isOthers = ({ fingerprint }: ErrorGroup): boolean => fingerprint.code === 'OtherErrors';

export function fullEmittersContract(harness: Harness): void {
  describe('an emitter with too many groups', () => {
    it('gets one more for all its other errors, and counts each error once', async () => {
      await using stage = await Stage.open(harness);
      const workflow = await stage.workflow({ settings: { notify: false } });
      const neighbour = await stage.workflow({ settings: { notify: false } });
      const made = LIMITS.groupsPerEmitter + 3 * AT_ONCE;
      await reportAll(stage, workflow, 0, made);
      const full = await allGroups(stage, workflow);
      const others = defined(full.find(isOthers));
      ok(full.length > LIMITS.groupsPerEmitter && full.length <= LIMITS.groupsPerEmitter + AT_ONCE + 1);
      deepEqual([sum(full), others.count > 0, others.rule], [made, true, null]);
      match(explained(others.fingerprint, null), /different errors without a group of their own: 1000 groups/);

      await reportAll(stage, workflow, made, made + 2 * AT_ONCE);
      const known = defined(full.find((group) => !isOthers(group)));
      await report(stage, workflow, known.fingerprint.template);
      const entry = await report(stage, workflow, 'no such word');
      const later = await allGroups(stage, workflow);
      equal(later.length, full.length, 'no group is added');
      equal(sum(later), made + 2 * AT_ONCE + 2);
      equal(defined(later.find(({ id }) => id === known.id)).count, known.count + 1, 'and one that is there counts on');
      equal(defined(await stage.store.getEmission(stage.owner.id, entry)).groupId, others.id);

      const grouping = [{ group: 'words', message: 'no such *' }];
      await redeployed(stage, { ...workflow, settings: { ...workflow.settings, grouping } });
      const ruled = await report(stage, workflow, 'no such word');
      const { groupId } = defined(await stage.store.getEmission(stage.owner.id, ruled));
      equal(
        (await whole(stage, { id: defined(groupId) })).group.rule,
        'words',
        'what a rule puts together has a group',
      );

      await report(stage, neighbour, 'no such word');
      deepEqual((await allGroups(stage, neighbour)).map(isOthers), [false]);

      await stage.reopen();
      await reportAll(stage, workflow, 5000, 5000 + 3 * AT_ONCE);
      const afterwards = await allGroups(stage, workflow);
      ok(afterwards.length <= later.length + 1 + AT_ONCE, 'a restart lets through what is written at once');
      equal(sum(afterwards), sum(later) + 1 + 3 * AT_ONCE);
    });
  });
}
