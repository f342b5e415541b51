// A step of a workflow: works out what an order costs.
//
// It has a mistake, on purpose: it believes that every order has a voucher. check-order-corrected.ts is the same step
// without the mistake.

interface Order {
  readonly number: number;
  readonly customer: string;
  readonly lines: readonly { readonly price: number; readonly count: number }[];
  readonly voucher: { readonly amount: number };
}

export default {
  async run({ steps, $ }) {
    const order: Order = steps.trigger.event.body;
    const sum = order.lines.reduce((total, { price, count }) => total + price * count, 0);
    const toPay = (sum - order.voucher.amount).toFixed(2);
    console.log(`${order.customer} has ordered ${order.lines.length} things`);
    $.export('$summary', `${order.customer} pays ${toPay}`);
    return { to_pay: toPay };
  },
};
