// How the service connects to a database that speaks TLS, by `sslmode` of the URL.

import assert from 'node:assert/strict';
import { chown, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DatabaseSession } from '../../../src/store/postgres/connection/database-session.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { type Certificate, selfSigned, signedBy } from '../../unit/webhook/certificate.ts';

const AUTHORITY = selfSigned('DNS:authority');

/** A server with this certificate, and a file with its authority's. */
async function startWith({ key, cert }: Certificate) {
  const folder = await createFolder();
  await writeFile(join(folder.path, 'ca.pem'), AUTHORITY.cert);
  const server = await startPostgres({
    settings: { ssl: 'on' },
    prepare: async (dir) => {
      const { uid, gid } = await stat(dir);
      for (const [name, text] of [
        ['server.crt', cert],
        ['server.key', key],
      ] as const) {
        await writeFile(join(dir, name), text, { mode: 0o600 });
        await chown(join(dir, name), uid, gid);
      }
    },
  });
  return {
    /** Whether the session is encrypted. */
    connect: async (query: string): Promise<unknown> => {
      const url = `${server.url('postgres')}?${query.replace('CA', join(folder.path, 'ca.pem'))}`;
      const session = await DatabaseSession.open({ url, name: 'tls' });
      try {
        const [row] = await session.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
        return row?.ssl;
      } finally {
        await session.close();
      }
    },
    async [Symbol.asyncDispose]() {
      await server.dispose();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe('a database that speaks TLS', () => {
  test('is reached as sslmode says', async () => {
    await using server = await startWith(signedBy(AUTHORITY, 'IP:127.0.0.1', 1));
    assert.equal(await server.connect(''), false);
    assert.equal(await server.connect('sslmode=disable'), false);
    assert.equal(await server.connect('sslmode=require'), true);
    assert.equal(await server.connect('sslmode=require&sslrootcert=CA'), true);
    assert.equal(await server.connect('sslmode=verify-ca&sslrootcert=CA'), true);
    assert.equal(await server.connect('sslmode=verify-full&sslrootcert=CA'), true);
    await assert.rejects(server.connect('sslmode=verify-full'), /^StoreUnavailable: .*certificate/);
    await assert.rejects(server.connect('sslmode=verify-ca'), /^StoreUnavailable: .*certificate/);
  });

  test('is not reached with an authority that cannot be read, nor in a mode that there is not', async () => {
    await using server = await startWith(signedBy(AUTHORITY, 'IP:127.0.0.1', 1));
    const unread = /^StoreUnavailable: .*sslrootcert of its address cannot be read: /;
    await assert.rejects(server.connect('sslmode=verify-full&sslrootcert=/nope.pem'), unread);
    await assert.rejects(server.connect('sslmode=verify-full&sslrootcert=/'), unread);
    await assert.rejects(server.connect('sslmode=required'), /an address whose sslmode is/);
  });

  test('under another name is refused where the name counts', async () => {
    await using server = await startWith(signedBy(AUTHORITY, 'DNS:elsewhere', 1));
    assert.equal(await server.connect('sslmode=verify-ca&sslrootcert=CA'), true);
    await assert.rejects(server.connect('sslmode=verify-full&sslrootcert=CA'), /^StoreUnavailable: /);
  });

  test('with a certificate of its own is taken by require alone', async () => {
    await using server = await startWith(selfSigned('IP:127.0.0.1'));
    assert.equal(await server.connect('sslmode=require'), true);
    await assert.rejects(server.connect('sslmode=require&sslrootcert=CA'), /^StoreUnavailable: /);
    await assert.rejects(server.connect('sslmode=verify-ca&sslrootcert=CA'), /^StoreUnavailable: /);
  });
});

test('what the URL sets of a session is set', async () => {
  await using server = await startPostgresPlain();
  assert.equal(await server.show('search_path', 'search_path=one,two'), 'one,two');
  assert.equal(await server.show('application_name', 'application_name=other'), 'tls');
  await assert.rejects(server.show('search_path', 'no_such_setting=1'), /no_such_setting/);
});

async function startPostgresPlain() {
  const server = await startPostgres();
  return {
    show: async (setting: string, query: string): Promise<unknown> => {
      const session = await DatabaseSession.open({ url: `${server.url('postgres')}?${query}`, name: 'tls' });
      try {
        const [row] = await session.query('SELECT current_setting($1) AS value', setting);
        return row?.value;
      } finally {
        await session.close();
      }
    },
    [Symbol.asyncDispose]: () => server.dispose(),
  };
}
