// What tests of data stores have in common.

import type { Json } from '../../support/client.ts';
import type { Errand } from '../../support/errand.ts';
import { emissions, eventsOf } from '../../support/sources/sources.ts';

export const newStore = (errand: Errand, name = 'seen'): Promise<Json> =>
  errand.client.post('/v1/data_stores', { name });

export const recordPath = (store: Json, key: string): string =>
  `/v1/data_stores/${store.id}/records/${encodeURIComponent(key)}`;

/** A source that does what the body says with `this.data`, and emits what that returns. */
export const using = (body: string): string => `export default {
  props: { http: '$.interface.http', data: 'data_store' },
  async run(event) {
    const { data } = this;
    const result = await (async () => { ${body} })();
    this.$emit({ result: result === undefined ? 'undefined' : result });
  },
};`;

export const naming = (store: Json): Json => ({ configured_props: { data: store.id } });

export async function results(errand: Errand, source: Json, count: number): Promise<unknown[]> {
  return eventsOf(await emissions(errand, source.id, count)).map(({ result }) => result);
}
