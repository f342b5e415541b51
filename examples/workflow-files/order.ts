// A workflow in one file: works out what an order costs. `typebox` is a package from npm, as any other might be.

import { defineWorkflow } from 'errand/workflow';
import Type from 'typebox';
import Value from 'typebox/value';

const Order = Type.Object({
  customer: Type.String(),
  lines: Type.Array(Type.Object({ price: Type.Number(), count: Type.Integer() })),
});

export default defineWorkflow({
  name: 'Orders in a file',
  triggers: [{ type: 'http', custom_response: true }],
  settings: { timeout_ms: 10_000 },
  steps: (flow) =>
    flow
      .step('validate', ({ event }) => Value.Parse(Order, event.body))
      .step('total', ({ steps, $ }) => {
        const { customer, lines } = steps.validate.$return_value;
        // The mistake is here: without a value to begin with, an order that has no lines cannot be added up.
        const total = lines.map(({ price, count }) => price * count).reduce((sum, price) => sum + price);
        $.export('$summary', `${customer} pays ${total}`);
        return { customer, total };
      })
      .step('answer', async ({ steps, $ }) => {
        await $.respond({ body: steps.total.$return_value });
      }),
});
