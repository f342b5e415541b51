// A process with a runner in it, to be killed: prints the number of the child process in which its run never ends
// (as that process sees it). With a last argument `busy` the run never gives up the CPU, either.

import { createRunner } from '../../../src/runner/pool/pool.ts';
import { deploymentOf, ISOLATION, requestOf } from './kit.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const runner = createRunner({
  log: silent,
  clock: { nowMs: Date.now },
  tmpDir: process.argv[2] as string,
  isolation: process.argv[3] === 'jail' ? { ...ISOLATION, level: 'jail', network: 'none' } : ISOLATION,
});
const code = `export default async ({ $ }) => {
  await $.respond({ immediate: true, body: String(process.pid) });
  ${process.argv[4] === 'busy' ? 'setImmediate(() => { for (;;); });' : ''}
  await new Promise(() => {});
}`;
await runner.run(requestOf(await deploymentOf(code), { onAnswer: ({ body }) => void process.stdout.write(body) }));
