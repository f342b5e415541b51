// An event source: a shop calls its address with every order, and sometimes with the same order twice. What it emits
// goes to its subscribers, each order once.

export default {
  name: 'Shop orders',
  version: '1.0.0',
  props: {
    http: '$.interface.http',
    db: '$.service.db',
  },
  // An emission whose id is among the last 100 is dropped.
  dedupe: 'unique',

  async run(event) {
    const order = event.body;
    if (typeof order?.reference !== 'string') throw new Error('an order has a reference');
    // What the db is given is written together with what is emitted, or not at all.
    const calls = (this.db.get('calls') ?? 0) + 1;
    this.db.set('calls', calls);
    console.log(`call ${calls}: order ${order.reference}`);
    this.$emit(order, {
      id: order.reference,
      summary: `Order ${order.reference}`,
      ts: Date.parse(order.placed_at),
    });
  },
};
