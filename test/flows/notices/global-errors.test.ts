// The global error workflow: as a fallback behind a workflow's own subscribers, and its code, which is upgraded while it is unchanged.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { GLOBAL_ERROR_CODE } from '../../../src/engine/resources/global-error-code.ts';
import { createClient, type Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { createOwner } from '../../support/owners.ts';
import { until } from '../../support/wait.ts';

const THROW = `export default ({ steps }) => { throw new Error(steps.trigger.event.body.text); };`;
const FORMER = await readFile(join(import.meta.dirname, 'former-global-error.txt'), 'utf8');

const globalOf = async ({ client }: Pick<Errand, 'client'>): Promise<string> =>
  (await client.get('/v1/users/me')).data.global_error_workflow_id;

async function receiptOf(errand: Errand, workflowId: string, globalId: string): Promise<Json> {
  const [{ id }] = await errand.errors(workflowId, 1);
  const { data } = await errand.client.get(`/v1/workflows/${workflowId}/$errors/event_summaries/${id}`);
  return data.receipts.find(({ listener_id: listener }: Json) => listener === globalId);
}

test('subscribers to errors go first, and the global error workflow gets what they did not take', async () => {
  await using errand = await startErrand();
  await using gate = await startGate();
  const globalId = await globalOf(errand);
  const settings = { global_errors: 'fallback' };
  const [lost, taken] = [await errand.workflow(THROW, { settings }), await errand.workflow(THROW, { settings })];
  equal(lost.settings.global_errors, 'fallback');
  const failing = `export default async () => { await fetch('${gate.url}'); missing(); };`;
  const bad = await errand.workflow(failing, { settings: { notify: false } });
  const good = await errand.workflow('export default () => 1;');
  await errand.subscribe(lost.id, bad.id, '$errors');
  await errand.subscribe(taken.id, good.id, '$errors');
  for (const workflow of [lost, taken]) await errand.send(workflow, { text: 'broken' });
  await gate.wait(1);
  await errand.runs(good.id, 1);
  equal((await receiptOf(errand, lost.id, globalId)).state, 'withheld');
  gate.open();
  await errand.runs(bad.id, 1);
  await errand.settled();
  errand.forward(60_000);
  const [run, ...others] = await errand.runs(globalId, 1);
  deepEqual([run?.emitter_id, run?.event_name, others], [lost.id, '$errors', []]);
  match(
    (
      await until('the decision', async () => {
        const receipt = await receiptOf(errand, taken.id, globalId);
        return receipt.reason !== 'the subscribers to this error go first' && receipt;
      })
    ).reason,
    /a subscriber to this error has succeeded/,
  );
  const refused = await errand.client.request('PUT', `/v1/workflows/${lost.id}`, {
    settings: { global_errors: 'never' },
  });
  equal(refused.status, 400);
});

test('code that was never changed is upgraded at a start, and no other', async () => {
  await using errand = await startErrand();
  const others = [await createOwner(errand, 'changed'), await createOwner(errand, 'named')] as const;
  const owners = [errand, ...others];
  const deployed = async (on: Pick<Errand, 'client'>): Promise<Json> =>
    (await on.client.get(`/v1/workflows/${await globalOf(on)}`)).data;
  const deploy = async (on: Pick<Errand, 'client'>, code: string): Promise<Json> =>
    on.client.put(`/v1/workflows/${await globalOf(on)}`, { steps: [{ namespace: 'notify', code }] });
  for (const owner of owners) await deploy(owner, FORMER);
  await deploy(others[0], `${FORMER}// mine\n`);
  const own = await others[1].workflow('export default () => 1;');
  await others[1].client.put('/v1/users/me', { global_error_workflow_id: own.id });
  await errand.restart();
  const upgraded = await until('the upgrade', async () => {
    const workflow = await deployed(errand);
    return workflow.steps[0].code === GLOBAL_ERROR_CODE && workflow;
  });
  equal(upgraded.active, true);
  const [changed, named] = others.map(({ data }) => ({ client: createClient(errand.url, data.api_key) }));
  ok(changed && named);
  equal((await deployed(changed)).steps[0].code, `${FORMER}// mine\n`);
  equal((await deployed(named)).steps[0].code, 'export default () => 1;');
  await errand.send(await errand.workflow(THROW), { text: 'broken' });
  const [mail = ''] = await until('the mail', async () => {
    const all = await errand.outbox();
    return all.length === 1 && all;
  });
  const { text = '' } = await PostalMime.parse(mail);
  const link = /^(https?:\/\/\S+\/n\/u_\S+)$/m.exec(text)?.[1] ?? '';
  equal((await fetch(link)).status, 200);
  ok(text.includes(`${link}/mute`) && text.includes(`${link}/replay`), text);
});

test('an error with any line breaks in its code and message is mailed', async () => {
  await using errand = await startErrand();
  const breaks = ['\\r', '\\r\\n', '\\u2028', '\\u2029', '\\n\\n'];
  for (const [n, lineBreak] of breaks.entries()) {
    const code = `export default () => { throw Object.assign(new Error('\\u001b[31mfirst\\u001b[39m${lineBreak}second'), { code: 'E${n}${lineBreak}X' }); };`;
    await errand.send(await errand.workflow(code), {});
  }
  const mails = await until('the mails', async () => {
    await errand.settled();
    const all = await errand.outbox();
    return all.length === breaks.length && all;
  });
  for (const mail of mails) {
    const { html = '' } = await PostalMime.parse(mail);
    match(html, /<td [^>]*>Message<\/td><td [^>]*>first\s+second<\/td>/);
  }
});

test('a code and a name of any length and direction leave the subject readable', async () => {
  await using errand = await startErrand();
  const code = `E\u200f\u061c\u202e${'x'.repeat(300)}`;
  const source = `export default { async run() { throw Object.assign(new Error('no stock\\nsecond'), { code: ${JSON.stringify(code)} }); } };`;
  await errand.send(await errand.workflow(source, { name: 'Or\u200eders\u2067' }), {});
  const [mail = ''] = await until('the mail', async () => {
    await errand.settled();
    const all = await errand.outbox();
    return all.length === 1 && all;
  });
  const { subject = '', text = '', html = '' } = await PostalMime.parse(mail);
  equal(subject, `[Errand] Orders: E${'x'.repeat(116)}... no stock`);
  for (const part of [subject, text, html]) ok(!/(?![\n\t])[\p{Cc}\p{Cf}]/u.test(part), part);
});

test('no line of an error looks like one of its mail', async () => {
  await using errand = await startErrand();
  const forged = ['first', 'Workflow:  Forged', '', 'Replay:', 'https://forged.example/', '\u202e\u0007turned'];
  await errand.send(await errand.workflow(THROW, { name: 'Orders' }), { text: forged.join('\n') });
  const [mail = ''] = await until('the mail', async () => {
    await errand.settled();
    const all = await errand.outbox();
    return all.length === 1 && all;
  });
  const { text = '', html = '' } = await PostalMime.parse(mail);
  for (const part of [text, html]) ok(!/(?![\n\t])[\p{Cc}\p{Cf}]/u.test(part), part);
  deepEqual(
    text.match(/^(?:Workflow|Replay).*$/gm)?.map((line) => line.slice(0, 17)),
    ['Workflow:  Orders', 'Replay the newest'],
  );
  ok(!text.match(/^https:\/\/forged/m) && !html.includes('href="https://forged'), html);
  match(html, /<td [^>]*>first\nWorkflow: {2}Forged\nReplay:\nhttps:\/\/forged\.example\/\n turned<\/td>/);
  equal(html.match(/<td [^>]*>Workflow<\/td>/g)?.length, 1);
});

test('a long message leaves the links of its mail in sight', async () => {
  const longs = { characters: `${'m'.repeat(1499)}😀${'n'.repeat(7000)}`, lines: 'line\n'.repeat(400) };
  await using errand = await startErrand();
  for (const [name, message] of Object.entries(longs)) {
    const code = `export default () => { throw new Error(${JSON.stringify(message)}); };`;
    await errand.send(await errand.workflow(code, { name }), {});
    const mail = await until('the mail', async () => {
      await errand.settled();
      return (await errand.outbox()).find((one) => one.includes(`[Errand] ${name}: `));
    });
    const { text = '' } = await PostalMime.parse(mail);
    const shown = text.slice(text.indexOf('Message:'), text.indexOf('When:'));
    ok(shown.length < 2000, `${shown.length} characters`);
    match(shown, /\(the page of the error has all of it\)\s*$/);
    ok(!shown.includes('�'));
    match(text, /All errors of this kind:\nhttp/);
  }
});
