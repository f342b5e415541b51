// Mutations of what callers of the interface rely on: filters of subscriptions, patches, listeners of a new source, and times.

import { type Mutation, of } from '../mutation.ts';

const FILTER = ['test/unit/domain/filter/event-filter.test.ts'];
const PATCH = ['test/http/interface/patch.test.ts'];
const TIMES = ['test/http/interface/times.test.ts'];
const LISTENERS = ['test/flows/sources/sources-listeners.test.ts'];
const LISTS = ['test/unit/http/lists.test.ts'];

export const INTERFACE_MUTATIONS: readonly Mutation[] = [
  ...of('src/domain/filter/event-filter.ts', FILTER, {
    'filters: what takes too much work is withheld': [
      'if (error instanceof TooMuchWork) return null;',
      "if (error instanceof TooMuchWork) return '';",
    ],
    'filters: one field that is as wanted is enough': [
      'if (missed !== null) return missed;',
      'if (missed === null) return missed;',
    ],
    'filters: an object is a scalar': [
      "if (value === undefined || value.kind === 'object') return false;",
      'if (value === undefined) return false;',
    ],
    'filters: all alternatives have to hold': [
      'judges.some((judge) => judge(value) === null)',
      'judges.every((judge) => judge(value) === null)',
    ],
  }),
  ...of('src/domain/filter/conditions.ts', FILTER, {
    'filters: one comparison of two is enough': [
      'tests.every((test) => test(value))',
      'tests.some((test) => test(value))',
    ],
    'filters: the parts around a star overlap': [
      'value.length < first.length + last.length || !value.startsWith(first)',
      '!value.startsWith(first)',
    ],
  }),
  ...of('src/http/patch.ts', PATCH, {
    'patch: null is written': ['if (value === null) merged.delete(name);', 'if (false) merged.delete(name);'],
    'patch: a faster one is overwritten': [
      "const version = schema.takesIfMatch ? (given ?? reply.getHeader('etag')) : undefined;",
      'const version = schema.takesIfMatch ? given : undefined;',
    ],
    'patch: what is whole loses what the patch leaves out': [
      "takes === 'whole' ? names.filter(",
      'false ? names.filter(',
    ],
  }),
  ...of('src/engine/notices/channels.ts', PATCH, {
    'patch: what is hidden is written': ['value === HIDDEN && Object.hasOwn(before, name)', 'false'],
  }),
  ...of('src/engine/privacy/redactions.ts', PATCH, {
    'patch: other rules of redaction are replaced': ['      check(before);\n', ''],
  }),
  ...of('src/engine/sources/sources.ts', LISTENERS, {
    'listeners: one may be named twice': ['if (known.has(key)) throw', 'if (false) throw'],
  }),
  ...of('src/store/config/sources.ts', LISTENERS, {
    'listeners: they are not written': ['yield* putSubscriptions(listeners);', ''],
  }),
  ...of('src/http/answers/iso-times.ts', TIMES, {
    'times: seconds are taken for milliseconds': ["name.endsWith('_ms') ? time : time * SECOND_MS", 'time'],
    'times: a list has none': ['...(items ? [items] : [])', ''],
    'times: the listing of errors has them': ["new Set(['ErrorRecord', 'EventRecord'])", "new Set(['EventRecord'])"],
  }),
  ...of('src/http/answers/fields.ts', LISTS, {
    'fields: an unknown one is left out': ['if (unknown === undefined) continue;', 'continue;'],
    'fields: those that are excluded stay': ['&& !excluded?.includes(name)', ''],
  }),
  ...of('src/domain/filter/conditions.ts', FILTER, {
    'filters: anything but the first is anything but all': [
      'return (value, work) => !several.some((matches) =>',
      'return (value, work) => !several.every((matches) =>',
    ],
    'filters: the bound itself is below': ["'<=': (a, b) => a <= b", "'<=': (a, b) => a < b"],
  }),
  ...of('src/domain/route.ts', ['test/unit/domain/route.test.ts', 'test/unit/domain/route-cases.test.ts'], {
    'filters: a listener that another subscription leads to has missed it': [
      'if (!seen.has(one.listenerId)) withheld.push(one);',
      'withheld.push(one);',
    ],
  }),
];
