// `npm run demo`: starts a server of its own, lets a workflow fail, and shows the notifications. Every fact that it prints
// is checked first; one that is not true ends it with exit code 1. Afterwards nothing is left of it, but with `--keep`
// it goes on running, to be played with, until Ctrl-C.

import { once } from 'node:events';
import { hearTwice, replay } from './demo/correcting.ts';
import { addUp, crash } from './demo/crashing.ts';
import { deploy } from './demo/deploying.ts';
import { fail } from './demo/failing.ts';
import { createStory, type Story, screenOf } from './demo/story.ts';
import { createWorld, type Deployed, type World } from './demo/world.ts';

async function tell(world: World): Promise<Deployed> {
  const deployed = await deploy(world);
  const recordId = await fail(world, deployed);
  await replay(world, deployed, recordId);
  await hearTwice(world, deployed);
  await crash(world, deployed);
  await addUp(world, deployed);
  return deployed;
}

/** What to type while the server goes on running. */
function invite({ story, server }: World, { checkOrder }: Deployed): void {
  story.heading('Your turn');
  story.say('The server goes on running until you press Ctrl-C. In another terminal:\n');
  story.command(`URL=${server.url}
KEY=${server.key}
curl -sS ${checkOrder.triggers[0].endpoint_url} -H 'Content-Type: application/json' -d '{"customer": "me@example.com"}'
curl -sS "$URL/v1/workflows/${checkOrder.id}/\\$errors/event_summaries?expand=event" \\
  -H "Authorization: Bearer $KEY"`);
  story.say(`\nDocumentation of the HTTP interface: ${server.url}/docs`);
  story.say(`Mails are written to ${server.dataDir}/outbox`);
}

async function main(story: Story, isKept: boolean): Promise<void> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => once(process, signal));
  // A reader such as `head` that has seen enough is a reason to end, too.
  const closed = new Promise((resolve) => process.stdout.once('error', resolve));
  const interrupted = Promise.race([...signals, closed]).then(() => true as const);
  const world = await createWorld(story);
  try {
    const deployed = await Promise.race([tell(world), interrupted]);
    if (deployed !== true && isKept) {
      invite(world, deployed);
      await interrupted;
    }
    const code = await world.close();
    if (deployed === true) process.exit(130);
    if (code !== 0) throw new Error(`the server ended with exit code ${code}`);
    story.end('The server has stopped in order, and its store is removed.');
  } catch (error) {
    await world.close();
    const log = world.server.log();
    process.stderr.write(`\nThe demo has failed: ${(error as Error).stack}\n${log && `\nThe server's log:\n${log}`}`);
    process.exitCode = 1;
  }
}

await main(createStory(screenOf(process.stdout)), process.argv.includes('--keep'));
