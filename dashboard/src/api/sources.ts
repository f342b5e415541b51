import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type {
  ConfigurableProps,
  ConfigurePropInput,
  PropOptions,
  SourceWhole,
  Started,
} from '../../../src/client/client.ts';
import { changes, dataOf, errand, exactDataOf } from './errand.ts';
import { listQuery, readAll } from './list.ts';
import { begun } from './runs.ts';

const AGAIN_MS = 4000;

export const sourcesQuery = queryOptions({
  queryKey: ['sources'],
  queryFn: ({ signal }) => readAll<SourceWhole>((asked, options) => errand.listSources(asked, options), signal),
  refetchInterval: AGAIN_MS,
});

export function sourceQuery(id: string) {
  return queryOptions({
    queryKey: ['source', id],
    queryFn: ({ signal }) => dataOf(errand.getSource({ id }, { signal })),
  });
}

export function emissionsQuery(id: string) {
  return listQuery({
    key: ['emissions', id],
    read: (asked, options) => errand.listSourceEvents({ id, ...asked }, options),
    againMs: AGAIN_MS,
  });
}

export function emissionQuery(sourceId: string, id: string) {
  return queryOptions({
    queryKey: ['emission', sourceId, id],
    queryFn: ({ signal }) =>
      exactDataOf(errand.getSourceEvent({ id: sourceId, record_id: id, expand: 'event' }, { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What it keeps between its runs; numbers as it wrote them. */
export function sourceStateQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['source-state', id],
    queryFn: async ({ pageParam: skip, signal }) => {
      return await exactDataOf(errand.getSourceState({ id, ...(skip === 0 ? {} : { skip }) }, { signal }));
    },
    initialPageParam: 0,
    getNextPageParam: ({ count, values }, pages) => {
      const read = pages.reduce((sum, page) => sum + page.values.length, 0);
      return values.length > 0 && read < count ? read : null;
    },
    // Each page would be a request.
    refetchInterval: ({ state: { data } }) => ((data?.pages.length ?? 0) <= 1 ? AGAIN_MS : false),
  });
}

export function sourceLogsQuery(id: string) {
  return listQuery({
    key: ['source-logs', id],
    read: (asked, options) => errand.listSourceLogs({ id, ...asked }, options),
    againMs: AGAIN_MS,
  });
}

export const componentsQuery = queryOptions({
  queryKey: ['components'],
  queryFn: ({ signal }) => dataOf(errand.listComponents({}, { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Where the code of a component is taken from. */
export type ComponentOf =
  | { readonly component: string }
  | { readonly component_code: string }
  | { readonly source_id: string };

export type Values = Readonly<Record<string, unknown>>;

export type Prop = ConfigurableProps['configurable_props'][number];

/** `asked`: the values on which the props depend; `values` are sent with it, and change nothing by themselves. */
export function propsQuery(of: ComponentOf, asked: Values, values: Values) {
  return queryOptions({
    queryKey: ['props', of, asked],
    queryFn: ({ signal }) => dataOf(errand.reloadProps({ ...of, configured_props: values }, { signal })),
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

export interface OptionsAsked {
  readonly prop: string;
  /** What is typed, for props that search by it. */
  readonly query: string;
  /** From 0. */
  readonly page: number;
  /** What the page before came with. */
  readonly context: unknown;
}

/** Returns a page of what a prop offers: its code is asked. */
export async function readOptions(of: ComponentOf, values: Values, ask: OptionsAsked): Promise<PropOptions> {
  const { context } = ask;
  const input: ConfigurePropInput = {
    ...of,
    configured_props: values,
    prop_name: ask.prop,
    page: ask.page,
    ...(context === null || context === undefined
      ? {}
      : { prev_context: context as ConfigurePropInput['prev_context'] }),
    ...(ask.query === '' ? {} : { query: ask.query }),
  };
  return await dataOf(errand.configureProp(input));
}

export interface SourceInput {
  readonly name?: string;
  readonly component?: string;
  readonly component_code?: string;
  readonly configured_props?: Values;
  readonly active?: boolean;
}

export async function createSource(input: SourceInput): Promise<SourceWhole> {
  return await dataOf(changes.createSource(input));
}

export async function updateSource(id: string, change: SourceInput): Promise<SourceWhole> {
  return await dataOf(changes.updateSource({ id, ...change }));
}

export async function deleteSource(id: string): Promise<void> {
  await changes.deleteSource({ id });
}

export async function invokeSource(id: string): Promise<Started> {
  return await dataOf(changes.invokeSource({ id }));
}

/** `event`: JSON text, which is sent as it was typed. */
export async function invokeSourceWith(id: string, event: string): Promise<{ run_id: string }> {
  return await begun(changes.invokeSource({ id }, { bodyText: `{"event":${event}}` }));
}
