// A test of a webhook as shown: the request, the answer, and what would follow.

import type { Static } from 'typebox';
import { LIMITS } from '../../domain/limits.ts';
import type { Probe } from '../../domain/requests.ts';
import type { Webhook } from '../../domain/resource.ts';
import { text } from '../openapi/schema.ts';
import { Type } from '../schema/type.ts';
import { ATTEMPT, attemptToWire } from './log/deliveries.ts';
import { lengthOf } from './words.ts';

const HEADER = Type.Object({
  name: text({ description: 'Name of the header.', example: 'content-type' }),
  value: text({ description: 'Value of the header.', example: 'application/json' }),
});

export const PROBE = Type.Object(
  {
    delivered: Type.Boolean({ description: 'Whether the receiver took it.', examples: [true] }),
    follows: text({ description: 'What would follow if it were a delivery.', example: 'It would be delivered.' }),
    request: Type.Object(
      {
        method: text({ description: 'HTTP method.', example: 'POST' }),
        url: text({ description: 'The address of the webhook.', example: 'https://example.com/hooks/errand' }),
        headers: Type.Array(HEADER, { description: 'As they were sent, in order.' }),
        body: text({ description: 'As it was sent.', example: '{"order": 12345}' }),
      },
      { description: 'The request that was sent.' },
    ),
    attempt: ATTEMPT,
  },
  { title: 'WebhookTest' },
);

export function probeToWire(probe: Probe, webhook: Webhook): Static<typeof PROBE> {
  const { request, attempt, state } = probe;
  return {
    delivered: state === 'delivered',
    follows: followsOf(probe, webhook),
    request: {
      method: request.method,
      url: request.url,
      headers: request.headers.map(([name, value]) => ({ name, value })),
      body: Buffer.from(request.body).toString(),
    },
    attempt: attemptToWire(attempt, { n: 1, trigger: 'test' }),
  };
}

function followsOf({ attempt, state }: Probe, { settings }: Webhook): string {
  if (state === 'delivered') return 'It would be delivered.';
  if (state === 'retrying') {
    if (attempt.retryAfterMs) {
      return `Nothing would go to the webhook for ${lengthOf(attempt.retryAfterMs)} (Retry-After); the attempt would not count.`;
    }
    const [delayMs = 0] = settings.retryDelaysMs ?? LIMITS.retryDelaysMs;
    return `It would be tried again after ${lengthOf(delayMs)}, give or take ${LIMITS.retryJitter * 100} %.`;
  }
  if (attempt.outcome === 'forbidden') {
    return 'It would be given up at once (DeliveryRefused): the address may not be reached.';
  }
  if (attempt.status === 410) return 'It would be given up at once (WebhookGone), and the webhook be disabled.';
  return 'It would be given up (DeliveryExhausted): the schedule of retries has none.';
}
