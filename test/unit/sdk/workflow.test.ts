// What TypeScript knows in a workflow file. Most of it is proved by tsc, which reads this file: each `@ts-expect-error`
// stands for an error that must be there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineWorkflow, type EventOf, type Given, http, type Json } from '../../../src/sdk/workflow.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

function is<_Claim extends true>(): void {}

interface Order {
  readonly total: number;
  readonly at: string;
}

test('a step knows what earlier ones returned', () => {
  const workflow = defineWorkflow({
    name: 'Orders',
    triggers: [http<Order>({ custom_response: true })],
    steps: (flow) =>
      flow
        .step('validate', ({ event }) => {
          is<Same<typeof event.body, Order>>();
          return { total: event.body.total, at: new Date(event.body.at), lines: [1, 2] as const };
        })
        .step('charge', async ({ steps, $ }) => {
          const { total, at, lines } = steps.validate.$return_value;
          is<Same<typeof total, number>>();
          is<Same<typeof at, string>>();
          is<Same<typeof lines, readonly [1, 2]>>();
          // @ts-expect-error: nothing of that name was returned
          steps.validate.$return_value.vat;
          // @ts-expect-error: no such step
          steps.ship;
          $.export('cents', total * 100);
          return total > 10 ? 'paid' : null;
        })
        .step('tell', {
          run({ steps, context }) {
            is<Same<typeof steps.charge.$return_value, 'paid' | null>>();
            is<Same<typeof steps.charge.cents, unknown>>();
            is<Same<typeof steps.trigger.event.body, Order>>();
            is<Same<typeof context.attempt, number>>();
          },
        })
        .step('last', ({ steps }) => steps.tell.$return_value satisfies undefined),
  });
  assert.deepEqual(
    workflow.steps.map(({ namespace }) => namespace),
    ['validate', 'charge', 'tell', 'last'],
  );
  assert.deepEqual([workflow.name, workflow.triggers], ['Orders', [{ type: 'http', custom_response: true }]]);
});

test('names of steps that cannot be are refused', () => {
  defineWorkflow({
    name: 'names',
    steps: (flow) =>
      flow
        .step('one', () => 1)
        // @ts-expect-error: the name of the event
        .step('trigger', () => 2)
        // @ts-expect-error: taken
        .step('one', () => 3),
  });
  // @ts-expect-error: no steps
  assert.throws(() => defineWorkflow({ name: 'none' }), /steps must be/);
  // @ts-expect-error: the chain is not returned
  assert.throws(() => defineWorkflow({ name: 'lost', steps: () => {} }), /must return the chain/);
});

test('the event follows from the triggers', () => {
  is<Same<EventOf<never>, unknown>>();
  defineWorkflow({
    name: 'nightly',
    triggers: [{ type: 'schedule', cron: '0 3 * * *', timezone: 'Europe/Berlin' }],
    steps: (flow) =>
      flow.step('run', ({ event }) => {
        is<Same<typeof event.cron, string>>();
        // @ts-expect-error: a schedule's event has no body
        event.body;
      }),
  });
  defineWorkflow({
    name: 'either',
    triggers: [{ type: 'http' }, { type: 'schedule', interval_seconds: 60 }],
    steps: (flow) =>
      flow.step('run', ({ event }) => {
        if ('method' in event) is<Same<typeof event.body, unknown>>();
        else is<Same<typeof event.interval_seconds, number>>();
      }),
  });
  defineWorkflow({
    name: 'errors',
    triggers: [{ type: 'emitter', emitter_id: 'p_1', event_name: '$errors' }],
    steps: (flow) => flow.step('run', ({ event }) => event.error.code satisfies string),
  });
  defineWorkflow({
    name: 'source',
    triggers: [{ type: 'source', source_id: 'dc_1' }],
    steps: (flow) =>
      flow.step('run', ({ event }) => {
        is<Same<typeof event, unknown>>();
      }),
  });
});

test('triggers and settings that cannot be are refused', () => {
  const steps = { one: () => 1 };
  // @ts-expect-error: either of the two
  defineWorkflow({ name: 'x', triggers: [{ type: 'schedule', cron: '* * * * *', interval_seconds: 1 }], steps });
  // @ts-expect-error: neither of the two
  defineWorkflow({ name: 'x', triggers: [{ type: 'schedule' }], steps });
  // @ts-expect-error: no such type
  defineWorkflow({ name: 'x', triggers: [{ type: 'ftp' }], steps });
  // @ts-expect-error: no source's id
  defineWorkflow({ name: 'x', triggers: [{ type: 'source', source_id: 'p_1' }], steps });
  // @ts-expect-error: a bearer token is missing
  defineWorkflow({ name: 'x', triggers: [{ type: 'http', auth: { type: 'bearer' } }], steps });
  // @ts-expect-error: milliseconds are called so
  defineWorkflow({ name: 'x', settings: { timeout: 1 }, steps });
  // @ts-expect-error: a name is needed
  defineWorkflow({ steps });
});

test('an object of steps keeps its order', () => {
  const workflow = defineWorkflow({
    name: 'object',
    triggers: [{ type: 'http' }],
    steps: {
      second: ({ event }) => event.method satisfies string,
      first: ({ steps }) => {
        const result = steps.second?.$return_value;
        is<Same<typeof result, unknown>>();
      },
    },
  });
  assert.deepEqual(
    workflow.steps.map(({ namespace }) => namespace),
    ['second', 'first'],
  );
});

test('results have the types that JSON leaves', () => {
  is<Same<Json<{ at: Date; f: () => void; list: { n: 1 }[] }>, { at: string; list: { n: 1 }[] }>>();
  is<Same<Json<unknown>, unknown>>();
  is<Same<Json<undefined>, undefined>>();
  is<Same<Json<readonly [Date, 'a']>, readonly [string, 'a']>>();
});

test('a function of its own can say what it is given', () => {
  const add = ({ steps }: Given<unknown, { readonly a: { readonly $return_value: number } }>): number =>
    steps.a.$return_value + 1;
  const workflow = defineWorkflow({ name: 'x', steps: (flow) => flow.step('a', () => 1).step('b', add) });
  assert.equal(workflow.steps[1]?.code, add);
});

test('a step may wait, send and go on', () => {
  const workflow = defineWorkflow({
    name: 'approval',
    triggers: [http<Order>()],
    steps: (flow) =>
      flow
        .step('ask', ({ $ }) => {
          const { resume_url, cancel_url } = $.flow.suspend(60_000);
          is<Same<typeof resume_url, string>>();
          $.send.email({ subject: 'Please', text: `${resume_url} ${cancel_url}` });
          $.flow.suspend();
          $.flow.delay('250') satisfies { resume_url: string };
          // @ts-expect-error: a delay needs its milliseconds
          $.flow.delay();
          // @ts-expect-error: a time is milliseconds
          $.flow.suspend({ hours: 1 });
        })
        .step('poll', ({ steps, $ }) => {
          const { runs, context, callback_request } = $.context.run;
          is<Same<typeof runs, number>>();
          is<Same<typeof steps.ask.$resume_data, unknown>>();
          is<Same<typeof context, unknown>>();
          callback_request?.headers['x-a'] satisfies string | undefined;
          if (runs < 3) $.flow.rerun(1000, { context }, 3);
          $.flow.trigger('p_0123456789abcdEF', { runs });
          $.send.http({
            url: 'https://a.example/',
            data: { a: 1 },
            params: { q: [1] },
            auth: { username: 'u', password: 'p' },
          });
          // @ts-expect-error: an address is needed
          $.send.http({ method: 'POST' });
          $.context.deadline satisfies number;
          $.context.test satisfies boolean;
          return $.respond({ status: '201', headers: { 'x-n': 1 } });
        }),
  });
  assert.equal(workflow.steps.length, 2);
});
