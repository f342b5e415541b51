// A program that has nothing to do with Errand but a DSN: what teams have that report to Sentry. Run by sentry-node.test.ts.

import * as Sentry from '@sentry/node';

Sentry.init({
  dsn: process.env.SENTRY_DSN as string,
  release: 'shop@4.1.0',
  environment: 'test',
  tracesSampleRate: 1,
});
Sentry.setTag('region', 'eu');
Sentry.setUser({ id: '7', email: 'ada@example.com' });

interface Order {
  readonly id: number;
  readonly total?: number;
}

function charge(order: Order): string {
  return (order as Required<Order>).total.toFixed(2);
}

for (const id of [7, 8]) {
  Sentry.addBreadcrumb({ category: 'order', message: `charging order ${id}`, level: 'info' });
  Sentry.startSpan({ name: `charge ${id}` }, () => {
    try {
      charge({ id });
    } catch (error) {
      Sentry.captureException(error, { extra: { order: id } });
    }
  });
}
Sentry.captureMessage('the shop closes', 'warning');
await Sentry.flush(20_000);

// Not caught by the program: reported by the client's own handler, which ends the process.
setImmediate(() => {
  throw new RangeError('no shelf 9', { cause: new Error('the shelf is gone') });
});
