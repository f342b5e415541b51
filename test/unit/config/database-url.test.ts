import assert from 'node:assert/strict';
import test from 'node:test';
import { databaseLabel, readDatabaseUrl } from '../../../src/server/database-url.ts';

const RIGHT: readonly [string, string][] = [
  ['postgres://localhost/errand', 'localhost/errand'],
  ['postgresql://db.example.com:5433/errand', 'db.example.com:5433/errand'],
  ['postgres://me:secret@h1:5432,h2:5432/errand', 'h1:5432,h2:5432/errand'],
  ['postgres://me:s%40cret%2F@10.0.0.1,h_2,h3:1/errand?sslmode=require', '10.0.0.1,h_2,h3:1/errand'],
  ['postgres://me@localhost/%C3%A4', 'localhost/ä'],
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
