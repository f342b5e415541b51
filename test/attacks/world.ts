// What there is to reach for code that should not reach it: a server with secrets in its files and its environment, that
// listens, and whose process is the test's.

import dgram from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { deploymentOf, type Kit, returned } from '../unit/runner/kit.ts';

export interface World {
  readonly secret: string;
  /** Has errand.db, api-key, secret-key and module.mjs; mode 0700. */
  readonly dataDir: string;
  /** Everyone may write there. */
  readonly openDir: string;
  readonly socket: string;
  /** The name of a Unix socket that no file stands for. */
  readonly abstractSocket: string;
  readonly port: number;
  /** Answers each datagram. */
  readonly datagramPort: number;
  readonly serverPid: number;
  /** A file in the temporary folder of another deployment's process, as the machine sees it. */
  readonly otherFile: string;
  readonly otherPid: number;
}

/** Not where a jail has a folder of its own. */
const PLACE = existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
const SECRET = 'the-secret-of-the-server';

export async function createWorld(t: TestContext, { run, tmpDir }: Kit): Promise<World> {
  const base = realpathSync(mkdtempSync(join(PLACE, 'errand-world-')));
  t.after(() => rm(base, { recursive: true, force: true }));
  await chmod(base, 0o755);
  const dataDir = join(base, 'data');
  const openDir = join(base, 'open');
  mkdirSync(dataDir, { mode: 0o700 });
  mkdirSync(openDir);
  await chmod(openDir, 0o777);
  fillDataDir(dataDir);
  process.env.ERRAND_TEST_SECRET = SECRET;
  t.after(() => delete process.env.ERRAND_TEST_SECRET);
  const socket = join(openDir, 'server.sock');
  const unix = createServer((connection) => connection.on('error', () => {}).end(SECRET)).listen(socket);
  await listening(unix);
  await chmod(socket, 0o777);
  const abstractSocket = `\0${base}`;
  const abstract = createServer((connection) => connection.on('error', () => {}).end(SECRET)).listen(abstractSocket);
  await listening(abstract);
  const http = createHttpServer((request, response) => {
    const isCaller = request.headers.authorization === `Bearer ${SECRET}`;
    response.writeHead(isCaller ? 200 : 401).end(isCaller ? SECRET : '');
  }).listen(0, '127.0.0.1');
  await listening(http);
  const datagrams = dgram.createSocket('udp4').bind(0, '127.0.0.1');
  datagrams.on('message', (text, { port, address }) => datagrams.send(text, port, address));
  await once(datagrams, 'listening');
  t.after(() => {
    datagrams.close();
    unix.close();
    abstract.close();
    http.close();
    http.closeAllConnections();
  });
  // As a rule it stays warm while the attempts are made.
  const other = await deploymentOf(`import fs from 'node:fs'; export default () => {
    fs.writeFileSync('kept.txt', '${SECRET}'); return [process.pid, process.cwd()] }`);
  const [otherPid, cwd] = returned(await run(other)) as [number, string];
  const otherFile = join(cwd.startsWith(tmpDir) ? cwd : tmpDir, 'kept.txt');
  const { port } = http.address() as AddressInfo;
  const datagramPort = datagrams.address().port;
  const reached = { socket, abstractSocket, port, datagramPort };
  return { secret: SECRET, dataDir, openDir, ...reached, serverPid: process.pid, otherFile, otherPid };
}

function fillDataDir(dataDir: string): void {
  const db = new DatabaseSync(join(dataDir, 'errand.db'));
  db.exec(`CREATE TABLE secrets (text TEXT); INSERT INTO secrets VALUES ('${SECRET}')`);
  db.close();
  for (const name of ['api-key', 'secret-key']) writeFileSync(join(dataDir, name), SECRET, { mode: 0o600 });
  writeFileSync(join(dataDir, 'module.mjs'), `export default '${SECRET}'`);
  writeFileSync(join(dataDir, 'module.json'), JSON.stringify(SECRET));
}

async function listening(server: Server): Promise<void> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
}
