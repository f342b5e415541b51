// Runs that say when they have begun, and then do what their events ask for.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { DEADLINE_MS, deploymentOf, kit, signal } from '../kit.ts';

/** Says that it has begun, then does what its event asks for. */
const PLAYER = `
  export default async ({ steps, $ }) => {
    const { then, url } = steps.trigger.event;
    await $.respond({ immediate: true });
    if (then === 'wait') return (await (await fetch(url)).text(), process.pid);
    if (then === 'hang') await new Promise(() => {});
    if (then === 'spin') for (;;);
    if (then === 'exit') process.exit(3);
    if (then === 'crash') (await import('node:fs')).closeSync(3);
    if (then === 'break') { JSON.stringify = () => 'broken'; throw new Error('broken'); }
    if (then === 'forge') (await import('node:fs')).writeSync(3, Buffer.from(steps.trigger.event.frame, 'hex'));
    if (then === 'deadline') return $.context.deadline;
    return process.pid;
  }`;

export function player(t: TestContext) {
  const given = kit(t);
  const gate = gateFor(t);
  const deployment = deploymentOf(PLAYER);
  const begin = async (then: string, timeoutMs = DEADLINE_MS, more: object = {}, frame = '') => {
    const { came, onAnswer } = signal();
    const event = Buffer.from(JSON.stringify({ then, url: await gate.url, frame }));
    const outcome = given.run(await deployment, { event, timeoutMs, onAnswer, ...more });
    return { outcome, began: came };
  };
  return { ...given, begin, deployment, open: gate.open };
}

/** An address that answers when it is opened. */
function gateFor(t: TestContext) {
  const opened = Promise.withResolvers<void>();
  const server = createServer((_request, response) => void opened.promise.then(() => response.end()));
  const url = new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, open: () => opened.resolve() };
}
