// A program with a client of Sentry of whatever major version is installed where it runs, and what clients send. Its arguments
// say what it does, in order. Prints a line of JSON for each answer. Run by sentry-versions.test.ts.

import { createRequire } from 'node:module';
import { join } from 'node:path';

const Sentry = createRequire(join(process.cwd(), 'package.json'))('@sentry/node');

Sentry.init({
  dsn: process.env.SENTRY_DSN,
  release: 'shop@4.1.0',
  tracesSampleRate: 1,
  attachStacktrace: true,
  enableLogs: true,
});
const client = Sentry.getClient?.() ?? Sentry.getCurrentHub().getClient();
client.on?.('afterSendEvent', (event: { type?: string }, answer?: { statusCode?: number }) => {
  process.stdout.write(`${JSON.stringify({ type: event.type ?? 'event', status: answer?.statusCode ?? null })}\n`);
});

function charge(order: { total?: number }): string {
  return (order as Required<typeof order>).total.toFixed(2);
}

function withFile(bytes: number): void {
  Sentry.withScope((scope: { addAttachment(file: object): void }) => {
    scope.addAttachment({ filename: 'order.bin', data: new Uint8Array(bytes).map((_, at) => at % 251) });
    Sentry.captureException(new RangeError(`with a file of ${bytes} bytes`));
  });
}

/** Some of it is there in some versions alone. */
function others(): void {
  Sentry.captureCheckIn?.({ monitorSlug: 'backup', status: 'ok' });
  for (const act of ['startSession', 'captureSession', 'endSession']) Sentry[act]?.();
  Sentry.startSpan?.({ name: 'charge', op: 'job' }, () => 1);
  Sentry.captureFeedback?.({ message: 'it is slow' });
  const event_id = '9ec79c33ec9942ab8353589fcb2e04dc';
  Sentry.captureUserFeedback?.({ event_id, name: 'Ada', email: 'ada@example.com', comments: 'slow' });
  Sentry.logger?.info?.('a line');
  Sentry.metrics?.increment?.('orders', 1);
  Sentry.metrics?.count?.('orders', 1);
}

const ACTS: Readonly<Record<string, () => void>> = {
  error: () => {
    Sentry.addBreadcrumb({ category: 'order', message: 'charging order 7', level: 'info' });
    try {
      charge({});
    } catch (error) {
      Sentry.captureException(error, { tags: { region: 'eu' }, user: { email: 'ada@example.com' } });
    }
  },
  message: () => Sentry.captureMessage('the shop closes', 'warning'),
  thrown: () => {
    for (const thrown of ['a text', { odd: true }]) Sentry.captureException(thrown);
  },
  file: () => withFile(1000),
  // Compressed by the client.
  large: () => Sentry.captureException(new RangeError('a large one'), { extra: { text: 'x'.repeat(200_000) } }),
  oversized: () =>
    Sentry.captureException(new RangeError('an oversized one'), { extra: { text: 'x'.repeat(700_000) } }),
  others,
  flood: () => {
    for (let n = 0; n < 30; n++) Sentry.captureException(new RangeError(`flood ${n}`));
  },
  uncaught: () => {
    setImmediate(() => {
      throw new RangeError('no shelf 9', { cause: new Error('the shelf is gone') });
    });
  },
};

for (const name of process.argv.slice(2)) {
  ACTS[name]?.();
  if (name !== 'uncaught') await Sentry.flush(20_000);
}
