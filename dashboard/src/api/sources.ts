import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type {
  Component,
  ConfigurableProps,
  EventRecord,
  PropOptions,
  SourceLogLine,
  SourceState,
  SourceWhole,
  Started,
} from '../../../src/client/client.ts';
import { parseEvent } from '../errors/event-text.ts';
import { call, query, send } from './http.ts';
import { type Data, listQuery, readAll } from './list.ts';

const AGAIN_MS = 4000;

export const sourcesQuery = queryOptions({
  queryKey: ['sources'],
  queryFn: ({ signal }) => readAll<SourceWhole>('/v1/sources', {}, signal),
  refetchInterval: AGAIN_MS,
});

export function sourceQuery(id: string) {
  return queryOptions({
    queryKey: ['source', id],
    queryFn: async ({ signal }) => (await call<Data<SourceWhole>>('GET', `/v1/sources/${id}`, undefined, signal)).data,
  });
}

export function emissionsQuery(id: string) {
  return listQuery<EventRecord>({
    key: ['emissions', id],
    path: `/v1/sources/${id}/event_summaries`,
    againMs: AGAIN_MS,
  });
}

export function emissionQuery(sourceId: string, id: string) {
  return queryOptions({
    queryKey: ['emission', sourceId, id],
    queryFn: async ({ signal }) => {
      const path = `/v1/sources/${sourceId}/event_summaries/${id}?expand=event`;
      return (await call<Data<EventRecord>>('GET', path, undefined, signal)).data;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What it keeps between its runs; numbers as it wrote them. */
export function sourceStateQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['source-state', id],
    queryFn: async ({ pageParam: skip, signal }) => {
      const path = `/v1/sources/${id}/state${query({ skip: skip === 0 ? undefined : skip })}`;
      const { value } = parseEvent(await send('GET', path, { signal })) ?? { value: null };
      return (value as Data<SourceState>).data;
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
  return listQuery<SourceLogLine>({ key: ['source-logs', id], path: `/v1/sources/${id}/logs`, againMs: AGAIN_MS });
}

export const componentsQuery = queryOptions({
  queryKey: ['components'],
  queryFn: async ({ signal }) =>
    (await call<Data<readonly Component[]>>('GET', '/v1/components', undefined, signal)).data,
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
    queryFn: async ({ signal }) => {
      const body = { ...of, configured_props: values };
      return (await call<Data<ConfigurableProps>>('POST', '/v1/components/props', body, signal)).data
        .configurable_props;
    },
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
  const body = {
    ...of,
    configured_props: values,
    prop_name: ask.prop,
    page: ask.page,
    ...(ask.context === null || ask.context === undefined ? {} : { prev_context: ask.context }),
    ...(ask.query === '' ? {} : { query: ask.query }),
  };
  return (await call<Data<PropOptions>>('POST', '/v1/components/configure', body)).data;
}

export interface SourceInput {
  readonly name?: string;
  readonly component?: string;
  readonly component_code?: string;
  readonly configured_props?: Values;
  readonly active?: boolean;
}

export async function createSource(input: SourceInput): Promise<SourceWhole> {
  return (await call<Data<SourceWhole>>('POST', '/v1/sources', input)).data;
}

export async function updateSource(id: string, change: SourceInput): Promise<SourceWhole> {
  return (await call<Data<SourceWhole>>('PUT', `/v1/sources/${id}`, change)).data;
}

export async function deleteSource(id: string): Promise<void> {
  await call('DELETE', `/v1/sources/${id}`);
}

export async function invokeSource(id: string): Promise<Started> {
  return (await call<Data<Started>>('POST', `/v1/sources/${id}/invoke`, { event: {} })).data;
}
