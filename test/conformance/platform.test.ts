// What `@pipedream/platform` has of the step that runs: the globals of the first version of the component API.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStep, runStep, tryStep } from '../support/actions.ts';
import { startErrand } from '../support/errand.ts';
import { createSource, emissions, eventsOf, post } from '../support/sources/sources.ts';

test('the event and the end of a run are imported', async () => {
  await using errand = await startErrand();
  const code = `import { $end, $event, END_NEEDLE, sendTypeMap } from '@pipedream/platform';
    const early = [Object.keys($event), $event.body];
    export default async ({ steps, $ }) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      $event.seen = true;
      const { body, ...rest } = $event;
      $.export('seen', {
        early: [early[0], early[1] === undefined],
        n: $event.body.n,
        isWhole: JSON.stringify($event) === JSON.stringify(steps.trigger.event),
        more: ['method' in rest, steps.trigger.event.seen],
        names: Object.keys(sendTypeMap),
      });
      try {
        $end('no more of ' + body.n);
      } catch (error) {
        $.export('ended', Object.keys(error[END_NEEDLE]));
        throw error;
      }
      $.export('after', true);
      return 'after';
    };`;
  const { json } = await errand.client.request('POST', '/v1/workflows', {
    name: 'test',
    steps: [
      { namespace: 'act', code },
      { namespace: 'never', code: 'export default () => { throw new Error("it was ended"); }' },
    ],
    triggers: [{ type: 'http' }],
  });
  await Promise.all([1, 2, 3].map((n) => errand.send(json.data, { n })));
  const runs = await errand.runs(json.data.id, 3);
  const seen: number[] = [];
  for (const { id } of runs) {
    const { data } = await errand.client.get(`/v1/runs/${id}`);
    assert.deepEqual([data.state, data.steps.length], ['succeeded', 1], JSON.stringify(data.error));
    const { exports, return_value: returned } = data.steps[0];
    const { n, ...rest } = exports.seen;
    assert.equal(data.exit_reason, `no more of ${n}`);
    assert.deepEqual(rest, {
      early: [[], true],
      isWhole: true,
      more: [true, true],
      names: ['email', 'emit', 'http', 's3', 'sql', 'snowflake', 'sse'],
    });
    // Nothing behind `$end` is executed.
    assert.deepEqual([exports.ended, exports.after, returned ?? null], [['message', 'ts'], undefined, null]);
    seen.push(n);
  }
  assert.deepEqual(seen.sort(), [1, 2, 3], 'each run has its own event');
});

test('what a module sends belongs to the step', async () => {
  await using errand = await startErrand();
  const code = `import { $send } from '@pipedream/platform';
    const refused = (send) => { try { send(); return null; } catch ({ name, message }) { return [name, message]; } };
    const early = refused(() => $send.emit({}));
    const { emit } = $send;
    export default () => {
      emit({ a: 1 });
      $send.emit({ b: 2 }, 'orders');
      return [early, refused(() => $send.s3({}))];
    };`;
  const workflow = await createStep(errand, code);
  const [early, s3] = await runStep(errand, workflow);
  assert.equal(early[0], 'ConfigurationError');
  assert.match(early[1], /^\$send.emit can be called only while a step runs/);
  assert.equal(s3[0], 'ConfigurationError');
  assert.match(s3[1], /^\$\.send\.s3 is not available here/);
  assert.deepEqual(eventsOf(await emissions(errand, workflow.id, 1)), [{ a: 1 }]);
  assert.deepEqual(eventsOf(await emissions(errand, workflow.id, 1, 'orders')), [{ b: 2 }]);
});

test('a source is told what it has instead', async () => {
  await using errand = await startErrand();
  const source = await createSource(
    errand,
    `import { $end, $event, $send } from '@pipedream/platform';
    export default {
      props: { http: '$.interface.http' },
      run(event) {
        const tell = (act) => { try { act(); } catch ({ name, message }) { return [name, message]; } };
        this.$emit({ n: $event.body.n, end: tell(() => $end()), send: tell(() => $send.http({ url: 'http://x' })) });
      },
    };`,
  );
  await post(source, { n: 7 });
  const [{ event }] = await emissions(errand, source.id, 1);
  assert.equal(event.n, 7);
  for (const [name, message] of [event.end, event.send]) {
    assert.equal(name, 'ConfigurationError');
    assert.match(message, /a source emits with this\.\$emit/);
  }
});

test('types of what is sent are imported', async () => {
  await using errand = await startErrand();
  const code = `import { $send, type SendConfigEmail, type SendConfigHTTP } from '@pipedream/platform';
    export default async ({ $ }) => {
      const mail: SendConfigEmail = { subject: 's', text: 't' };
      const request: Partial<SendConfigHTTP> = {};
      return [mail.subject, Object.keys(request), typeof $send.email];
    };`;
  const answer = await tryStep(errand, code);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(await runStep(errand, answer.json.data), ['s', [], 'function']);
});

test('an error that only looks like an end fails the run', async () => {
  await using errand = await startErrand();
  const code = `import { END_NEEDLE } from '@pipedream/platform';
    export default () => { throw Object.assign(new Error('an imitation'), { [END_NEEDLE]: {} }); };`;
  const { json } = await tryStep(errand, code);
  await errand.send(json.data, {});
  const [run] = await errand.runs(json.data.id, 1);
  assert.equal(run?.state, 'failed');
});
