// Every place that can be read, made from the list of all routes: what an owner hides shows in none of them but those that show
// what the owner configured. A place that is added later is walked, too.

import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { createBelongings, operationsOf, readAll } from '../support/belongings.ts';
import { startErrand } from '../support/errand.ts';

/** What the owner has written: code, names, and records of data stores. They are no events. */
const CONFIGURED =
  /^\/v1\/(workflows|sources|webhooks|subscriptions|accounts|channels|data_stores|heartbeats|keys|owners|deployments|components|users)(\/[^/$]+)?(\/(records(\/.*)?|deployments(\/.*)?|keys|redaction|subscriptions|accounts|sources))?$/;
/** Names stand beside errors and runs as their owner gave them. */
const NAMES = /"(workflow_name|name)":"secret-of-a"/g;

test('what is hidden shows wherever no rules hold, and nowhere with them', async () => {
  await using errand = await startErrand();
  const belongings = await createBelongings(errand);
  const operations = await operationsOf(errand.client);
  const showing = async (): Promise<string[]> => {
    const texts = await readAll(errand.client, operations, belongings);
    return [...texts]
      .filter(([path, text]) => !CONFIGURED.test(path) && text.replace(NAMES, '').includes('secret-of-a'))
      .map(([path]) => path)
      .sort();
  };
  const before = await showing();
  for (const part of ['/v1/errors', '/v1/error_groups', '/v1/runs/', '/logs', '/fixture']) {
    ok(
      before.some((path) => path.includes(part)),
      `${part} shows what it should: ${before.join(' ')}`,
    );
  }
  await errand.client.put('/v1/users/me/redaction', { patterns: ['secret-of-a'] });
  deepEqual(await showing(), []);
});
