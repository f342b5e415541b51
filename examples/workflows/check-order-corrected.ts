// check-order.ts without its mistake: an order need not have a voucher.

interface Order {
  readonly number: number;
  readonly customer: string;
  readonly lines: readonly { readonly price: number; readonly count: number }[];
  readonly voucher?: { readonly amount: number };
}

export default {
  async run({ steps, $ }) {
    const order: Order = steps.trigger.event.body;
    const sum = order.lines.reduce((total, { price, count }) => total + price * count, 0);
    const toPay = (sum - (order.voucher?.amount ?? 0)).toFixed(2);
    console.log(`${order.customer} has ordered ${order.lines.length} things`);
    $.export('$summary', `${order.customer} pays ${toPay}`);
    return { to_pay: toPay };
  },
};
