// Names, asked of a real name server: those that have no address, those that change, and those that lead inside.

import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { test } from 'node:test';
import { createAddresses } from '../../../src/webhook/address.ts';
import { freePort } from '../../support/port.ts';
import { type DnsAnswer, type DnsRecord, nameServer, type RecordType } from './dns-server.ts';
import { deliveryTo, httpReceiver, posterFor } from './receivers.ts';

const NAME = 'receiver.test';
const CLOSED = createAddresses({ allowTargets: [] });
// 192.0.2.1 stands for the public address: nothing is there, and it belongs to nobody.
const PUBLIC = '192.0.2.1';
const ONE_OPEN = createAddresses({ allowTargets: [`${PUBLIC}/32`] });
const LOOPBACK_V6 = '0:0:0:0:0:0:0:1';

const a = (value: string, name = NAME): DnsRecord => ({ name, type: 'A', value });
const aaaa = (value: string, name = NAME): DnsRecord => ({ name, type: 'AAAA', value });
const cname = (name: string, value: string): DnsRecord => ({ name, type: 'CNAME', value });

/** The records of the type that is asked for, with all aliases. */
function zone(...records: DnsRecord[]) {
  return (_: string, asked: RecordType) => records.filter(({ type }) => type === asked || type === 'CNAME');
}

const UNRESOLVED: [name: string, answer: (type: RecordType) => DnsAnswer, code: RegExp][] = [
  ['does not exist', () => 3, /ENOTFOUND/],
  ['cannot be looked up now', () => 2, /ESERVFAIL/],
  ['is refused an answer', () => 5, /EREFUSED/],
  ['is asked for in vain', () => 4, /ENOTIMP/],
  ['gets no answer', () => 'silence', /ETIMEOUT/],
  ['has no address', () => [], /ENODATA/],
  ['gets garbage for an answer', () => Buffer.from('garbage'), /E[A-Z]+/],
  ['is an alias of nothing', () => [cname(NAME, 'nowhere.test')], /looked up/],
  ['is an alias of itself', () => [cname(NAME, NAME)], /looked up/],
  ['exists for neither family', (type) => (type === 'A' ? 3 : 2), /ENOTFOUND/],
];

for (const [name, answer, code] of UNRESOLVED) {
  test(`Nothing is sent to a name that ${name}`, async () => {
    await using names = await nameServer((_, type) => answer(type));
    await using receiver = await httpReceiver();
    await using poster = posterFor({ lookup: names.lookup });
    const attempt = await poster.post(deliveryTo(`http://${NAME}:${receiver.port}/`));
    assert.deepEqual([attempt.outcome, attempt.status], ['dns', null]);
    assert.match(attempt.detail, /^The name could not be looked up( \(E[A-Z]+\))?\.$/);
    assert.match(attempt.detail, code);
    assert.equal(receiver.connections(), 0);
    assert.ok(names.asked.length >= 2, 'it was asked');
  });
}

test('A lookup that takes too long is a timeout', async () => {
  await using names = await nameServer(() => 'silence');
  await using poster = posterFor({ lookup: names.lookup, connectTimeoutMs: 30 });
  const attempt = await poster.post(deliveryTo(`http://${NAME}/`));
  assert.deepEqual([attempt.outcome, attempt.detail], ['timeout', 'Looking up the name took longer than 0.03 s.']);
});

const LEADS_INSIDE: [name: string, records: DnsRecord[]][] = [
  ['loopback', [a('127.0.0.1')]],
  ['the metadata service', [a('169.254.169.254')]],
  ['this machine, as zeros', [a('0.0.0.0')]],
  ['one private address of three', [a(PUBLIC), a('10.0.0.1'), a(PUBLIC)]],
  ['a private address in the other family', [a(PUBLIC), aaaa(LOOPBACK_V6)]],
  ['loopback in IPv6 alone', [aaaa(LOOPBACK_V6)]],
  ['a mapped loopback', [aaaa('0:0:0:0:0:ffff:7f00:1')]],
  ['loopback behind NAT64', [aaaa('64:ff9b:0:0:0:0:7f00:1')]],
  ['loopback behind 6to4', [aaaa('2002:7f00:1:0:0:0:0:1')]],
  ['a unique local address', [aaaa('fd00:ec2:0:0:0:0:0:254')]],
  ['loopback over aliases', [cname(NAME, 'b.test'), cname('b.test', 'c.test'), a('127.0.0.1', 'c.test')]],
  ['localhost as an alias', [cname(NAME, 'localhost'), a('127.0.0.1', 'localhost')]],
];

for (const [name, records] of LEADS_INSIDE) {
  test(`A name is refused that leads to ${name}`, async () => {
    await using names = await nameServer(zone(...records));
    await using receiver = await httpReceiver();
    await using poster = posterFor({ addresses: ONE_OPEN, lookup: names.lookup });
    const attempt = await poster.post(deliveryTo(`http://${NAME}:${receiver.port}/`));
    assert.deepEqual([attempt.outcome, attempt.status, attempt.timing.connectMs], ['forbidden', null, null]);
    assert.equal(receiver.connections(), 0);
    const words = attempt.detail.replace(/lies in [^ ,]+/, '');
    for (const { value } of records) assert.equal(words.includes(value), false, words);
  });
}

test('Names that lead where it is open are reached', async () => {
  const records = [cname(NAME, 'b.test'), a('127.0.0.1', 'b.test')];
  await using names = await nameServer(zone(...records));
  await using receiver = await httpReceiver();
  await using poster = posterFor({ lookup: names.lookup });
  const attempt = await poster.post(deliveryTo(`http://${NAME}:${receiver.port}/`));
  assert.equal(attempt.status, 200);
  assert.equal(receiver.received[0]?.headers.host, `${NAME}:${receiver.port}`);
  assert.deepEqual(names.asked.toSorted(), [`${NAME} A`, `${NAME} AAAA`]);
});

test('A name that turns to loopback reaches nothing', async () => {
  // Public for whoever asks first, to judge; loopback for whoever asks again, to connect.
  let answers = 0;
  const rebinding = (_: string, type: RecordType) =>
    type === 'AAAA' ? [] : [a(answers++ === 0 ? PUBLIC : '127.0.0.1')];
  await using names = await nameServer(rebinding);
  await using receiver = await httpReceiver();
  await using hasty = posterFor({ addresses: ONE_OPEN, lookup: names.lookup, connectTimeoutMs: 300 });
  await using poster = posterFor({ addresses: ONE_OPEN, lookup: names.lookup });
  const delivery = deliveryTo(`http://${NAME}:${receiver.port}/`);
  const first = await hasty.post(delivery);
  assert.ok(['timeout', 'refused'].includes(first.outcome), `it went to the public address: ${first.detail}`);
  assert.equal(answers, 1, 'what was judged is what was connected to');
  assert.equal((await poster.post(delivery)).outcome, 'forbidden');
  assert.equal(receiver.connections(), 0);
});

test('A redirect to a name inside is not followed', async () => {
  await using names = await nameServer((name) => [a(name === NAME ? '127.0.0.1' : '127.0.0.2', name)]);
  await using receiver = await httpReceiver((_, response) => {
    response.writeHead(307, { location: `http://inside.test:${receiver.port}/` }).end();
  });
  await using poster = posterFor({ lookup: names.lookup });
  assert.equal((await poster.post(deliveryTo(`http://${NAME}:${receiver.port}/`))).status, 307);
  assert.ok(names.asked.every((question) => question.startsWith(NAME)));
  assert.equal(receiver.received.length, 1);
});

test('Refusals never connect, whether or not anything listens', async () => {
  await using names = await nameServer(zone(a('127.0.0.1')));
  await using receiver = await httpReceiver();
  const shut = await freePort();
  const hosts = ['127.0.0.1', '[::1]', '2130706433', 'localhost', '[::ffff:127.0.0.1]', NAME];
  await using closed = posterFor({ addresses: CLOSED, lookup: names.lookup });
  for (const host of hosts) {
    const ways = [];
    for (const port of [receiver.port, shut]) {
      using way = new Way();
      const attempt = await closed.post(deliveryTo(`http://${host}:${port}/`));
      assert.equal(attempt.outcome, 'forbidden', host);
      assert.equal(way.connects, 0, host);
      ways.push([way.steps, attempt.detail, attempt.timing.connectMs]);
    }
    assert.deepEqual(ways[0], ways[1], `${host}: the same way`);
  }
  assert.equal(receiver.connections(), 0);

  await using opened = posterFor({ lookup: names.lookup });
  using way = new Way();
  assert.equal((await opened.post(deliveryTo(`http://${NAME}:${receiver.port}/`))).status, 200);
  assert.equal(way.connects, 1, 'a connection would have been seen');
});

/** What is asked of the system while it lives; promises and ticks depend on when its answers come. */
class Way implements Disposable {
  readonly steps: string[] = [];
  readonly #hook = createHook({ init: (_, type) => void (/WRAP$/.test(type) && this.steps.push(type)) }).enable();
  get connects(): number {
    return this.steps.filter((type) => type === 'TCPCONNECTWRAP').length;
  }
  [Symbol.dispose](): void {
    this.#hook.disable();
  }
}
