// Chapters 8 and 9: the code is corrected and the failed event replayed; a source that hears the same thing twice.

import { curlOf, type Json, sendEvent } from './api.ts';
import { BAD_ORDER } from './failing.ts';
import { until } from './wait.ts';
import { type Deployed, exampleCode, type World } from './world.ts';

export async function replay({ story, api }: World, { checkOrder }: Deployed, recordId: string): Promise<void> {
  story.heading('The code is corrected, and the event replayed');
  const code = await exampleCode('workflows/check-order-corrected.ts');
  const corrected = await api.put(`/v1/workflows/${checkOrder.id}`, { steps: [{ namespace: 'check', code }] });
  const path = `/v1/workflows/${checkOrder.id}/$errors/${recordId}/replay`;
  story.command(curlOf('POST', path));
  const started = await api.post(path);
  const [run, text] = await until('the end of the replay', async () => {
    const answer = await api.text(`/v1/runs/${started.run_id}`);
    const { data } = JSON.parse(answer);
    return data.ended_at_ms !== null && ([data, answer] as const);
  });
  story.show(`${run.id} ${run.state}: ${run.summary}\n`);
  story.fact('the new code is a new deployment', corrected.deployment_id !== checkOrder.deployment_id);
  story.fact('the replay has run with it, and succeeded', isCorrected(run, corrected));
  story.fact(`"${run.summary}"`, run.summary === 'ada pays 9.00');
  story.fact('its event was the original one, byte for byte', text.includes(BAD_ORDER));
}

function isCorrected(run: Json, corrected: Json): boolean {
  return run.state === 'succeeded' && run.replay === true && run.deployment_id === corrected.deployment_id;
}

export async function hearTwice(world: World, { shopOrders, books }: Deployed): Promise<void> {
  const { story, api, receiver } = world;
  story.heading('An event source: each order once');
  story.say('The shop calls the address of its source three times, and sends one order twice.\n');
  const before = receiver.received.length;
  for (const reference of ['A-1', 'A-2', 'A-1']) {
    const order = `{"reference": "${reference}", "placed_at": "2026-06-21T12:00:00Z", "total": 30}`;
    await sendEvent(shopOrders.endpoint_url, order, story);
  }
  const lines = await until('the last run of the source', async () => {
    const { data } = await api.get(`/v1/sources/${shopOrders.id}/logs`);
    const texts = data.map(({ text }: Json) => text).toReversed();
    return texts.some((text: string) => text.includes('suppressed')) && texts;
  });
  const { data: emitted } = await until('two deliveries', async () => {
    const page = await api.get(`/v1/webhooks/${books.id}/deliveries?state=delivered`);
    return page.data.length === 2 && page;
  });
  const orders = receiver.received.slice(before).map(({ body }) => JSON.parse(body).reference);
  story.show(`\nlog of the source:\n${lines.toReversed().join('\n')}\n`);
  story.fact('the shop has called three times', lines.includes('call 3: order A-1'));
  story.fact('the repeat is counted, not hidden', lines.includes('dedupe suppressed 1 duplicate'));
  story.fact('A-1 was emitted once: the second one is a repeat, by its id', emitted.length === 2);
  story.fact('the bookkeeping has A-1 and A-2, signed', orders.toSorted().join() === 'A-1,A-2');
}
