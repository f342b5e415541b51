// What answers and what tells of errors, beside the same in Node-RED, in the same rounds.

import { add, atLeast } from '../kit/figures.ts';
import { median } from '../kit/stats.ts';
import { type NodeRedRate, nodeRedAnswers, nodeRedErrors, VERSION } from './node-red.ts';
import { acceptAndAnswer, errorChain, type Flood, type Times } from './throughput.ts';

const ANSWER_GOAL = 1.2;
const ERROR_GOAL = 2;

interface Round {
  readonly theirAnswers: NodeRedRate;
  readonly answers: Flood;
  readonly wideAnswers: Flood;
  readonly theirErrors: NodeRedRate;
  readonly chain: Flood;
  readonly direct: Flood;
}

async function once(times: Times): Promise<Round> {
  return {
    theirAnswers: await nodeRedAnswers(times),
    answers: await acceptAndAnswer(times, 8),
    wideAnswers: await acceptAndAnswer(times, 100),
    theirErrors: await nodeRedErrors(times),
    chain: await errorChain(times, { notify: false }),
    direct: await errorChain(times, { notify: false, direct: true }),
  };
}

export async function besideNodeRed({ rounds, times }: { rounds: number; times: Times }): Promise<void> {
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) measured.push(await once(times));
  const show = (
    name: string,
    read: (round: Round) => number,
    of?: (round: Round) => number,
    goal?: number,
    more = '',
  ): void => {
    const value = median(measured.map(read));
    const all = `rounds: ${measured.map((round) => Math.round(read(round))).join(', ')}`;
    if (of === undefined) {
      add({ name, value, unit: '/s', note: `${all}${more}` });
      return;
    }
    const ratio = median(measured.map((round) => read(round) / of(round)));
    const note = `${Math.round(value)}/s; ${all}${more}`;
    add({ name, value: ratio, unit: 'of it', note, ...(goal === undefined ? {} : atLeast(ratio, goal, '')) });
  };
  const cpu = (read: (round: Round) => NodeRedRate): string =>
    `; CPU ${Math.round(median(measured.map((round) => read(round).cpuUs)))} µs each`;
  const ours = (read: (round: Round) => Flood): string =>
    `; CPU ${Math.round(median(measured.map((round) => read(round).serverCpuUs)))} + ` +
    `${Math.round(median(measured.map((round) => read(round).childCpuUs)))} µs each`;
  const lost = median(measured.map((round) => round.theirErrors.lost));
  show(
    `26 Node-RED ${VERSION}, HTTP → function → answer`,
    (r) => r.theirAnswers.perSecond,
    undefined,
    undefined,
    cpu((r) => r.theirAnswers),
  );
  show(
    '26   … here, the run answers, concurrency 8',
    (r) => r.answers.perSecond,
    (r) => r.theirAnswers.perSecond,
    ANSWER_GOAL,
    ours((r) => r.answers),
  );
  show(
    '26   … the same with concurrency 100',
    (r) => r.wideAnswers.perSecond,
    (r) => r.theirAnswers.perSecond,
    undefined,
    ours((r) => r.wideAnswers),
  );
  show(
    `26 Node-RED, throw → catch → HTTP request`,
    (r) => r.theirErrors.perSecond,
    undefined,
    undefined,
    `${cpu((r) => r.theirErrors)}; ${lost} lost`,
  );
  show(
    '26   … here, throw → forwarded → webhook',
    (r) => r.chain.finishedPerSecond,
    (r) => r.theirErrors.perSecond,
    ERROR_GOAL,
    ours((r) => r.chain),
  );
  show(
    '26   … here, webhook hears the error itself',
    (r) => r.direct.finishedPerSecond,
    (r) => r.theirErrors.perSecond,
    undefined,
    ours((r) => r.direct),
  );
}
