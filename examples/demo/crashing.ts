// Chapters 10 and 11: the server dies in the middle of work, and the ledger says that nothing is missing.

import { type Json, sendEvent } from './api.ts';
import { until } from './wait.ts';
import type { Deployed, World } from './world.ts';

const SENDERS = 8;
const ANSWERS_BEFORE_DEATH = 40;

export async function crash(world: World, { checkOrder }: Deployed): Promise<void> {
  const { story, api } = world;
  story.heading('kill -9');
  story.say(
    `${SENDERS} callers send orders as fast as they can. At answer ${ANSWERS_BEFORE_DEATH} the server is killed.\n`,
  );
  const answered = await sendUntilDeath(world, checkOrder.triggers[0].endpoint_url);
  await settled(world);

  const { data: runs } = await api.get(`/v1/workflows/${checkOrder.id}/runs?state=succeeded`);
  const ends = runs.map(({ summary }: Json) => summary.split(' ')[0]);
  const isOnce = (customer: string): boolean => ends.filter((end: string) => end === customer).length === 1;
  const [, runsTakenOver = '0'] = /"runs":(\d+).*took over/.exec(world.server.log()) ?? [];
  story.say(
    `${answered.length} orders had been answered with 200 when it died, and ${runsTakenOver} runs were under way.`,
  );
  story.say('A new process was started on the same store.\n');
  story.fact(`all ${answered.length} have run to their end, and have one result each`, answered.every(isOnce));
}

/** Returns the customers whose orders were answered. */
async function sendUntilDeath(world: World, endpoint: string): Promise<string[]> {
  const answered: string[] = [];
  let sent = 0;
  let restarted: Promise<void> | undefined;
  const send = async (): Promise<void> => {
    while (restarted === undefined) {
      const customer = `guest-${sent++}`;
      const order = { number: sent, customer, lines: [{ price: 9, count: 1 }] };
      const { status } = await sendEvent(endpoint, JSON.stringify(order));
      if (status === 200) answered.push(customer);
      if (answered.length === ANSWERS_BEFORE_DEATH) restarted ??= world.crash();
    }
  };
  // Those that were being sent when it died have failed: whether they were accepted, their senders cannot know.
  await Promise.allSettled(Array.from({ length: SENDERS }, send));
  await restarted;
  return answered;
}

function settled({ api }: World): Promise<Json> {
  return until('nothing under way', async () => {
    const { runs, deliveries } = (await api.get('/v1/ledger')).data;
    const open = runs.queued + runs.running + deliveries.pending + deliveries.sending + deliveries.retrying;
    return open === 0 && { runs, deliveries };
  });
}

export async function addUp(world: World, deployed: Deployed): Promise<void> {
  const { story, api } = world;
  story.heading('The ledger adds up');
  await settled(world);
  const ledger = (await api.get('/v1/ledger')).data;
  const { runs, deliveries, errors } = ledger;
  story.show(`emissions   ${ledger.emissions}
runs        ${runs.total} = ${runs.succeeded} succeeded + ${runs.failed} failed + ${runs.cancelled} cancelled + ${runs.queued + runs.running} open
deliveries  ${deliveries.total} = ${deliveries.delivered} delivered + ${deliveries.exhausted} exhausted + ${deliveries.cancelled} cancelled + ${openOf(deliveries)} open
errors      ${errors.captured}\n`);
  story.fact('every run is over', runs.succeeded + runs.failed + runs.cancelled === runs.total);
  story.fact('every delivery has arrived', deliveries.delivered === deliveries.total);
  story.fact('each failed run has given one error', errors.captured === runs.failed && runs.failed === 1);
  const counted = await countRuns(world, deployed);
  story.fact('the lists count the same as the ledger', counted === runs.total);
}

function openOf({ pending, sending, retrying, held }: Json): number {
  return pending + sending + retrying + held;
}

async function countRuns({ api }: World, { checkOrder, keepErrors, shopOrders }: Deployed): Promise<number> {
  const me = (await api.get('/v1/users/me')).data;
  const lists = [checkOrder.id, keepErrors.id, me.global_error_workflow_id].map((id) => `/v1/workflows/${id}/runs`);
  const pages = await Promise.all(lists.map((path) => api.get(path)));
  // Each run of this source has logged a line, whose id begins with the run's.
  const { data: lines } = await api.get(`/v1/sources/${shopOrders.id}/logs?limit=100`);
  const runsOfSource = new Set(lines.map(({ id }: Json) => id.split('-')[0])).size;
  return pages.reduce((sum, { page_info }) => sum + page_info.total_count, runsOfSource);
}
