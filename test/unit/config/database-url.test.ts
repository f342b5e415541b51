import assert from 'node:assert/strict';
import test from 'node:test';
import { databaseLabel, readDatabaseUrl } from '../../../src/server/database-url.ts';

const RIGHT: readonly [string, string][] = [
  ['postgres://localhost/errand', 'localhost/errand'],
  ['postgresql://db.example.com:5433/errand', 'db.example.com:5433/errand'],
  ['postgres://me:secret@h1:5432,h2:5432/errand', 'h1:5432,h2:5432/errand'],
  ['postgres://me:s%40cret%2F@10.0.0.1,h_2,h3:1/errand?sslmode=require', '10.0.0.1,h_2,h3:1/errand'],
  ['postgres://me@localhost/%C3%A4', 'localhost/ä'],
  ['postgres://h1/errand?sslmode=verify-full&sslrootcert=/ca.pem&search_path=one,two', 'h1/errand'],
  ['postgres://h1/errand?ssl=true&sslrootcert=/ca.pem&application_name=x', 'h1/errand'],
  ['postgres://h1,h2/errand?target_session_attrs=read-write&sslmode=disable', 'h1,h2/errand'],
];

for (const [url, label] of RIGHT) {
  test(`a good URL is taken, and shown without its password: ${url}`, () => {
    assert.equal(readDatabaseUrl(url), url);
    assert.equal(databaseLabel(url), label);
  });
}

const WRONG = [
  'http://localhost/errand',
  'postgres:localhost/errand',
  'postgres://localhost',
  'postgres://localhost/',
  'postgres:///errand',
  'postgres://me:secret@/errand',
  'postgres://h1,,h2/errand',
  'postgres://h1:0/errand',
  'postgres://h1:65536/errand',
  'postgres://h1:54x/errand',
  'postgres://[::1]:5432/errand',
  'postgres://me:p@ss@h1/errand',
  'postgres://me:p/ss@h1/errand',
  'postgres://me:p%zz@h1/errand',
  'postgres://h 1/errand',
  'postgres://h1/errand#part',
  'postgres://h1/errand\n',
];

for (const url of WRONG) {
  test(`a bad URL is refused, and not shown: ${JSON.stringify(url)}`, () => {
    assert.throws(
      () => readDatabaseUrl(url),
      ({ message }: Error) => /^a URL like postgres:\/\//.test(message) && !message.includes(url.slice(11)),
    );
  });
}

/** What is no setting, or would not be used: the address seems to ask for encryption, or for what Errand does not have. */
const WRONG_PARAMETERS: readonly [string, RegExp][] = [
  ...['required', 'verify_full', 'Require', 'foo', 'true', ''].map((mode): [string, RegExp] => [
    `sslmode=${mode}`,
    /^an address whose sslmode is disable, .* or verify-full$/,
  ]),
  ['ssl=1', /^an address whose ssl is true or false$/],
  ['ssl=require', /^an address whose ssl is true or false$/],
  ['ssl=true&sslmode=disable', /leave out ssl$/],
  ['sslmode=disable&sslmode=require', /^an address that says sslmode once$/],
  ['sslrootcert=/ca.pem', /^an address that uses sslrootcert: add sslmode=require/],
  ['sslmode=prefer&sslrootcert=/ca.pem', /^an address that uses sslrootcert: /],
  ['sslmode=require&sslcert=/c.pem&sslkey=/k.pem', /leave out sslcert, sslkey$/],
  ['sslmode=require&channel_binding=require&connect_timeout=10', /leave out channel_binding, connect_timeout$/],
];

for (const [query, why] of WRONG_PARAMETERS) {
  test(`parameters that are wrong or not used are refused and named: ${query}`, () => {
    assert.throws(
      () => readDatabaseUrl(`postgres://me:secret@h1/errand?${query}`),
      ({ message }: Error) => why.test(message) && !message.includes('secret'),
    );
  });
}
