// What an operator's own authority has signed, code trusts as the server does: with fetch, with axios and with sockets.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Certificate, selfSigned, signedBy } from '../../webhook/certificate.ts';
import { ISOLATION, kit, returned } from '../kit.ts';
import { noJail } from './jail-kit.ts';

const ASK = `const url = steps.trigger.event;
  const asked = [await fetch(url).then((answer) => answer.status, (error) => error.cause.code)];
  asked.push(await new Promise((resolve) => {
    process.getBuiltinModule('node:https').get(url, (answer) => resolve(answer.statusCode)).on('error', (error) => resolve(error.code));
  }));
  return [asked, Object.keys(process.env).sort()];`;
const CODE = `export default async ({ steps }) => { ${ASK} }`;
const UNKNOWN = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
const VARIABLES = ['HOME', 'PIPEDREAM_WORKFLOW_ID', 'TMPDIR', 'TZ'];

async function serverSignedBy(t: TestContext, authority: Certificate): Promise<string> {
  const server = createServer(signedBy(authority, 'IP:127.0.0.1', 1), (_request, answer) =>
    answer.writeHead(204).end(),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

for (const level of ['process', 'jail'] as const) {
  const skip = level === 'jail' ? await noJail() : false;
  test(`code trusts authorities of the server, level ${level}`, { skip }, async (t) => {
    const authority = selfSigned('DNS:authority');
    const event = Buffer.from(JSON.stringify(await serverSignedBy(t, authority)));
    const isolation = { ...ISOLATION, level, network: 'full', authorities: authority.cert } as const;
    assert.deepEqual(returned(await kit(t, { isolation }).run(CODE, { event })), [[204, 204], VARIABLES]);
  });

  test(`code trusts no authority that the server was not given, level ${level}`, { skip }, async (t) => {
    const event = Buffer.from(JSON.stringify(await serverSignedBy(t, selfSigned('DNS:authority'))));
    const isolation = { ...ISOLATION, level, network: 'full' } as const;
    assert.deepEqual(returned(await kit(t, { isolation }).run(CODE, { event })), [[UNKNOWN, UNKNOWN], VARIABLES]);
  });
}
