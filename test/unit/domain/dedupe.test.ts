import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changeOf, deduplicate } from '../../../src/domain/dedupe.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Dedupe } from '../../../src/domain/resource.ts';

type Item = { readonly itemId: string | null; readonly name: string; readonly n: number };

const items = (...ids: (string | null)[]): Item[] => ids.map((itemId, n) => ({ itemId, name: '', n }));
const idsOf = (fresh: readonly Item[]): (string | null)[] => fresh.map(({ itemId }) => itemId);
const fresh = (strategy: Dedupe, remembered: readonly string[], ...ids: (string | null)[]) =>
  idsOf(deduplicate(strategy, { remembered, emissions: items(...ids) }).fresh);
const rememberedAfter = (strategy: Dedupe, remembered: readonly string[], ...ids: (string | null)[]) =>
  deduplicate(strategy, { remembered, emissions: items(...ids) }).remembered;

describe('unique', () => {
  it('passes an id once, within a run and across', () => {
    deepEqual(fresh('unique', ['a'], 'a', 'b', 'b', 'c', 'a'), ['b', 'c']);
    deepEqual(rememberedAfter('unique', ['a'], 'b', 'b', 'c'), ['a', 'b', 'c']);
  });

  it('remembers the newest hundred ids', () => {
    const ids = Array.from({ length: LIMITS.uniqueIds + 5 }, (_, i) => `id-${i}`);
    deepEqual(rememberedAfter('unique', [], ...ids), ids.slice(5));
    deepEqual(fresh('unique', ids.slice(5), 'id-4', 'id-5'), ['id-4']);
  });

  it('judges more than a hundred of one run', () => {
    const ids = Array.from({ length: 3 * LIMITS.uniqueIds }, (_, i) => `id-${i}`);
    equal(fresh('unique', [], ...ids, 'id-0').length, ids.length);
  });

  it('is not moved by a repeat', () => {
    deepEqual(rememberedAfter('unique', ['a', 'b'], 'a'), ['a', 'b']);
  });

  it('compares ids as they are remembered', () => {
    const emissions = items('LONG', 'long', 'other');
    const judged = deduplicate('unique', { remembered: ['long'], emissions }, (id) => id.toLowerCase());
    deepEqual(idsOf(judged.fresh), ['other']);
  });
});

describe('greatest', () => {
  it('passes what is larger than the largest so far', () => {
    deepEqual(fresh('greatest', ['9'], '9', '10', '2', '10', '11'), ['10', '11']);
    deepEqual(rememberedAfter('greatest', ['9'], '10', '2'), ['10']);
  });

  it('passes every number at first', () => {
    deepEqual(fresh('greatest', [], '-3', '-2'), ['-3', '-2']);
  });

  it('tells integers of any length apart', () => {
    const ids = ['1795731952332000001', '1795731952332000002', '1795731952332000001', '1795731952332000002.5'];
    deepEqual(fresh('greatest', [], ...ids), ids.slice(0, 2));
    deepEqual(rememberedAfter('greatest', [], ...ids), ['1795731952332000002']);
    deepEqual(fresh('greatest', ['1795731952332000002'], ' 1795731952332000003 ', '2e18'), [
      ' 1795731952332000003 ',
      '2e18',
    ]);
    deepEqual(fresh('greatest', ['2.5'], '2', '3', '2.7', '3.5'), ['3', '3.5']);
  });

  it('drops what is no number', () => {
    deepEqual(fresh('greatest', ['9'], 'ten', '', '1e3'), ['1e3']);
    deepEqual(rememberedAfter('greatest', [], 'ten'), []);
  });
});

describe('last', () => {
  it('passes what comes after the last id', () => {
    deepEqual(fresh('last', ['b'], 'a', 'b', 'c', 'd'), ['c', 'd']);
    deepEqual(rememberedAfter('last', ['b'], 'a', 'b', 'c', 'd'), ['d']);
  });

  it('passes all when the last id is missing', () => {
    deepEqual(fresh('last', ['z'], 'a', 'b'), ['a', 'b']);
    deepEqual(fresh('last', [], 'a', 'b'), ['a', 'b']);
  });

  it('keeps its memory when nothing is new', () => {
    deepEqual(fresh('last', ['b'], 'a', 'b'), []);
    deepEqual(rememberedAfter('last', ['b'], 'a', 'b'), ['b']);
  });
});

describe('channels', () => {
  const STRATEGIES = ['unique', 'greatest', 'last'] as const;
  const on = (...sent: [name: string, itemId: string][]): Item[] =>
    sent.map(([name, itemId], n) => ({ itemId, name, n }));
  const sentTwice = (strategy: Dedupe, first: Item[], second: Item[]) => {
    const before = deduplicate(strategy, { remembered: [], emissions: first });
    return deduplicate(strategy, { remembered: before.remembered, emissions: second });
  };

  it('are judged apart, within a run and across', () => {
    for (const strategy of STRATEGIES) {
      const { fresh: all, remembered } = deduplicate(strategy, {
        remembered: [],
        emissions: on(['new', '7'], ['', '7']),
      });
      deepEqual(idsOf(all), ['7', '7'], strategy);
      for (const name of ['new', '']) {
        deepEqual(deduplicate(strategy, { remembered, emissions: on([name, '7']) }).fresh, [], `${strategy} ${name}`);
      }
      equal(deduplicate(strategy, { remembered, emissions: on(['other', '7']) }).fresh.length, 1);
    }
  });

  it('keep the order of what a run emitted', () => {
    const { fresh: all } = sentTwice('unique', on(['b', '2']), on(['', '1'], ['b', '1'], ['b', '2'], ['', '2']));
    deepEqual(
      all.map(({ name, itemId }) => name + itemId),
      ['1', 'b1', '2'],
    );
  });

  it('remember a hundred ids each', () => {
    const many = Array.from({ length: 100 }, (_, i): [string, string] => ['a', `id-${i}`]);
    equal(sentTwice('unique', on(...many), on(['', 'id-0'], ['a', 'id-0'])).fresh.length, 1);
    equal(sentTwice('unique', on(['', 'x']), on(...many, ['', 'x'])).fresh.length, 100);
  });

  it('are a hundred at most, those of the latest emissions', () => {
    const names = Array.from({ length: 150 }, (_, i): [string, string] => [`c${i}`, '1']);
    const { fresh: again, remembered } = sentTwice('last', on(...names), on(['c50', '1'], ['c49', '1']));
    deepEqual(idsOf(again), ['1']);
    equal(remembered.length, 100);
  });

  it('do not collide with an id that spells another channel', () => {
    const { remembered } = deduplicate('unique', { remembered: [], emissions: on(['a', '1']) });
    equal(deduplicate('unique', { remembered, emissions: on(['', remembered[0] as string]) }).fresh.length, 1);
    equal(deduplicate('unique', { remembered, emissions: on(['a\u001f', '1'], ['\ud800', '1']) }).fresh.length, 2);
  });
});

describe('any strategy', () => {
  const STRATEGIES = ['unique', 'greatest', 'last'] as const;

  it('passes what has no id', () => {
    for (const strategy of STRATEGIES) deepEqual(fresh(strategy, [], null, null), [null, null]);
  });

  it('keeps the order, and drops all at once when asked again', () => {
    let seed = 42;
    const next = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % below;
    };
    for (let round = 0; round < 2000; round++) {
      const strategy = STRATEGIES[round % 3] as Dedupe;
      const emissions = items(...Array.from({ length: next(40) }, () => String(next(30))));
      const remembered = [...new Set(Array.from({ length: next(20) }, () => String(next(30))))];
      const first = deduplicate(strategy, { remembered, emissions });
      const places = first.fresh.map(({ n }) => n);
      deepEqual(
        places,
        [...places].sort((a, b) => a - b),
      );
      ok(first.fresh.every((one) => emissions.includes(one)));
      equal(new Set(first.remembered).size, first.remembered.length);
      ok(first.remembered.length <= LIMITS.uniqueIds);
      const again = deduplicate(strategy, { remembered: first.remembered, emissions });
      // `last` finds its id in the run, unless the run had none of its own.
      deepEqual(again.fresh, [], `${strategy} ${round}`);
      deepEqual(again.remembered, first.remembered);
      if (strategy === 'unique') equal(new Set(idsOf(first.fresh)).size, first.fresh.length);
    }
  });

  it('changes its memory by what goes and comes', () => {
    deepEqual(changeOf(['a', 'b'], ['b', 'c']), { removed: ['a'], added: ['c'] });
    deepEqual(changeOf([], []), { removed: [], added: [] });
  });
});
