// The error codes by which the list of runs can be limited.

import { queryOptions } from '@tanstack/react-query';
import { dataOf, errand } from '../api/errand.ts';

const FRESH_MS = 10_000;

/** How many of the groups that were last seen are looked at for codes: a page of the interface. */
const CODES_OF = 100;

const HAS_RUNS = /^(p|dc)_/;

/** The codes with which runs of one emitter or of all have failed lately, in alphabetical order. */
export function codesQuery(emitter: string | undefined) {
  return queryOptions({
    queryKey: ['codes', emitter],
    queryFn: async ({ signal }) => {
      const of = emitter === undefined ? {} : { emitter_id: emitter };
      const groups = await dataOf(errand.listErrorGroups({ ...of, limit: CODES_OF }, { signal }));
      const ofRuns = groups.filter(({ emitter_id: id }) => HAS_RUNS.test(id));
      return [...new Set(ofRuns.map(({ fingerprint }) => fingerprint.code))].sort();
    },
    placeholderData: (before) => before,
    staleTime: FRESH_MS,
  });
}
