// Counts visitors in a data store, which other sources and callers of the API can read, too.

export default {
  name: 'Visits',
  version: '1.0.0',
  props: { http: '$.interface.http', visits: { type: 'data_store' } },
  async run(event) {
    const { name } = event.body;
    const before = (await this.visits.get(name)) ?? 0;
    // Expires when no visitor of that name came for a day.
    await this.visits.set(name, before + 1, { ttl: 24 * 60 * 60 });
    this.$emit({ name, visits: before + 1 });
  },
};
