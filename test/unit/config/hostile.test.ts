// Every setting with values that are none, as every command reads them: one line says what is wrong, and no stack.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, readConfig, SETTINGS } from '../../../src/server/config.ts';
import { complaintOf } from '../../../src/server/startup-error.ts';
import { createAddresses } from '../../../src/webhook/address.ts';

const LONGEST_LINE = 1000;
const HOSTILE = [
  ...[' ', '\t', '\n', 'a\nb', 'a\r\n    at x (y.ts:1:1)', '\u001b[31mred', '\u2028', '\ud800', '💥'],
  ...['0', '-0', '-1', '1e9', '0x10', '1.5', ' 1', 'NaN', 'Infinity', '9'.repeat(400)],
  ...[
    'null',
    'undefined',
    'true',
    '{}',
    '[]',
    '""',
    '__proto__',
    'constructor',
    'toString',
    ',',
    ',,,',
    ':',
    '/',
    '%',
    '%00',
  ],
  ...['x'.repeat(100_000), '('.repeat(5000), ','.repeat(5000), `${'a'.repeat(5000)}@${'b'.repeat(5000)}`],
  ...[
    '10.1.2.3/8',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '/8',
    '::/129',
    'fe80::1%eth0/64',
    '010.0.0.1',
  ],
  ...[
    '10.0.0.0/8,10.1.2.3/8',
    '10.0.0.0/8 10.0.0.0/8',
    '::ffff:10.1.2.3/104',
    '1::2::3/64',
    '1.2.3.4.5/8',
    '256.0.0.0/8',
  ],
  ...[
    'http://',
    'http://[',
    'http://%',
    'http://x:99999',
    'javascript:0',
    'smtp://',
    'smtps:x',
    'smtp://:25',
    'smtp://%',
  ],
  ...[
    'postgres://',
    'postgres://%/x',
    'postgres://%zz@h/x',
    'postgres://h:0/x',
    'postgres://h/%',
    'postgresql://h,:5/x',
  ],
  ...[
    'uid:gid',
    '1:',
    ':1',
    '0:0',
    '-1:-1',
    '1:1:1',
    `${'9'.repeat(30)}:1`,
    '..',
    '../..',
    'a@',
    '@b',
    '<>',
    'a<b@c',
    'a@b\nc',
  ],
];

for (const { name, isSecret } of SETTINGS) {
  test(`what ${name} cannot be is said in one line`, () => {
    for (const value of HOSTILE) {
      const shown = JSON.stringify(value.slice(0, 50));
      try {
        const { allowTargets } = readConfig({ [name]: value });
        createAddresses({ allowTargets }); // what is read is what can be used
      } catch (error) {
        assert.ok(error instanceof ConfigError, `${shown}: ${error}`);
        const complaint = complaintOf(error);
        assert.ok(complaint.startsWith(`${name}: `), complaint.slice(0, 200));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        assert.doesNotMatch(complaint, /[\u0000-\u001f\u007f-\u009f\u2028]/, shown);
        assert.ok(complaint.length <= LONGEST_LINE, `${shown}: ${complaint.length} characters`);
        if (isSecret && value.length > 11) assert.ok(!complaint.includes(value), shown);
      }
    }
  });
}

test('a misspelt setting is told the nearest one', () => {
  for (const [name, near] of [
    ['ERRAND_PROT', 'ERRAND_PORT'],
    ['ERRAND_DATADIR', 'ERRAND_DATA_DIR'],
    ['ERRAND_PUBLIC_URI', 'ERRAND_PUBLIC_URL'],
    ['ERRAND_SMTP', 'ERRAND_SMTP_URL'],
    ['ERRAND_MAIL', 'ERRAND_MAIL_FROM or ERRAND_MAIL_TO'],
  ]) {
    assert.throws(() => readConfig({ [name as string]: '1' }), { message: new RegExp(`did you mean ${near}\\?$`) });
  }
  assert.throws(() => readConfig({ ERRAND_SOMETHING_ELSE: '1' }), {
    message: /is no setting of Errand\. Known: ERRAND_/,
  });
  for (const name of ['ERRAND_URL', 'ERRAND_API_URL', 'ERRAND_SERVER'])
    assert.throws(() => readConfig({ [name]: 'x' }), { message: /: name a command’s server with --url/ });
});

test('variables that Kubernetes sets for a Service are told with their remedy', () => {
  const linked = (prefix: string): Record<string, string> => ({
    [`${prefix}_SERVICE_HOST`]: '10.96.1.2',
    [`${prefix}_SERVICE_PORT`]: '80',
    [`${prefix}_SERVICE_PORT_HTTP`]: '80',
    [`${prefix}_PORT`]: 'tcp://10.96.1.2:80',
    [`${prefix}_PORT_80_TCP`]: 'tcp://10.96.1.2:80',
    [`${prefix}_PORT_80_TCP_ADDR`]: '10.96.1.2',
  });
  for (const [prefix, service] of [
    ['ERRAND', 'errand'],
    ['ERRAND_METRICS', 'errand-metrics'],
  ] as const) {
    const names = Object.entries(linked(prefix));
    for (const env of [names, names.toReversed()].map((all) => Object.fromEntries(all))) {
      assert.throws(() => readConfig(env), {
        name: 'ConfigError',
        message: new RegExp(
          `^${prefix}_SERVICE_HOST and ${prefix}_SERVICE_PORT .* the Service ${service}; set enableServiceLinks: false`,
        ),
      });
    }
  }
  assert.throws(() => readConfig({ ERRAND_SERVICE_HOST: 'x' }), { message: /is no setting of Errand/ });
});

test('a name that is no setting is said in one line', () => {
  for (const name of ['ERRAND_', 'ERRAND_\n    at x', `ERRAND_${'X'.repeat(10_000)}`, 'ERRAND___proto__']) {
    const complaint = (() => {
      try {
        readConfig({ [name]: '1' });
        return 'nothing';
      } catch (error) {
        assert.ok(error instanceof ConfigError);
        return complaintOf(error);
      }
    })();
    assert.match(complaint, /is no setting of Errand/);
    assert.doesNotMatch(complaint, /\n/);
    assert.ok(complaint.length <= 2 * LONGEST_LINE, `${complaint.length} characters`);
  }
});
