import type { Attack } from './attack.ts';

const PERMISSION = "Node's permission model";
const FOREIGN = `${PERMISSION}; another user, where the server is root; in a jail it is not there`;

export const FILES: readonly Attack[] = [
  {
    name: "reads the store's database file",
    process: 'stopped',
    jail: 'stopped',
    by: FOREIGN,
    attempt: "return fs.readFileSync(w.dataDir + '/errand.db', 'latin1').includes(w.secret)",
  },
  {
    name: 'opens the store, or any file, with `node:sqlite`',
    process: 'stopped',
    jail: 'stopped',
    by: 'the module is switched off; in a jail the file is not there',
    attempt: `const { DatabaseSync } = await import('node:sqlite');
      return new DatabaseSync(w.dataDir + '/errand.db').prepare('SELECT text FROM secrets').get().text === w.secret`,
  },
  {
    name: 'reads `api-key`',
    process: 'stopped',
    jail: 'stopped',
    by: FOREIGN,
    attempt: "return fs.readFileSync(w.dataDir + '/api-key', 'utf8') === w.secret",
  },
  {
    name: 'reads `secret-key`',
    process: 'stopped',
    jail: 'stopped',
    by: FOREIGN,
    attempt: `const file = await fs.openAsBlob(w.dataDir + '/secret-key'); return await file.text() === w.secret`,
  },
  {
    name: 'reads what another deployment keeps in its `tmp`',
    process: 'stopped',
    jail: 'stopped',
    by: `${PERMISSION}; in a jail each process has a /tmp of its own`,
    attempt: `return [w.otherFile, Buffer.from(w.otherFile), '/tmp/kept.txt'].some((file) => {
      try { return fs.readFileSync(file, 'utf8') === w.secret } catch { return false } })`,
  },
  {
    name: 'goes out of its `tmp` by a link or a path with `..`',
    process: 'stopped',
    jail: 'stopped',
    by: `${PERMISSION}, which refuses to make such links`,
    attempt: `const file = w.dataDir + '/api-key';
      const up = '../'.repeat(20);
      const ways = [
        () => { fs.symlinkSync(file, 'link'); return 'link' },
        () => { fs.symlinkSync(up + file.slice(1), 'near'); return 'near' },
        () => { fs.symlinkSync('..', 'up'); return 'up/' + up + file.slice(1) },
        () => { fs.linkSync(file, 'hard'); return 'hard' },
        () => { fs.cpSync(file, 'copy'); return 'copy' },
        () => { fs.renameSync(file, 'moved'); return 'moved' },
        () => up + file.slice(1),
        () => Buffer.from(process.cwd() + '/' + up + file.slice(1)),
        () => new URL('file://' + file),
        () => '/proc/self/root' + file,
        () => '/proc/self/cwd/' + up + file.slice(1),
      ];
      return ways.some((way) => { try { return fs.readFileSync(way(), 'utf8') === w.secret } catch { return false } })`,
  },
  {
    name: 'writes a file outside its `tmp`',
    process: 'stopped',
    jail: 'stopped',
    by: `${PERMISSION}; another user, where the server is root; in a jail all else is read-only`,
    attempt: `const paths = [w.openDir + '/evil', w.dataDir + '/evil', '/etc/evil', '/dev/shm/evil', '../child.mjs', '../code/one.mjs',
        '/errand/child.mjs'];
      return paths.some((path) => { try { fs.writeFileSync(path, ''); return true } catch { return false } })`,
  },
  {
    name: 'has Node write a report, a heap snapshot or a trace outside its `tmp`',
    process: 'stopped',
    jail: 'stopped',
    by: PERMISSION,
    attempt: `const v8 = node('v8');
      const ways = [
        () => process.report.writeReport(w.openDir + '/report'),
        () => v8.writeHeapSnapshot(w.openDir + '/heap'),
        () => node('module').enableCompileCache(w.openDir + '/cache').directory.length,
      ];
      for (const way of ways) try { way() } catch {}
      return ['report', 'heap', 'cache'].some((name) => { try { fs.accessSync(w.openDir + '/' + name); return true } catch { return false } })`,
  },
  {
    name: 'imports or requires a file outside its folder',
    process: 'stopped',
    jail: 'stopped',
    by: FOREIGN,
    attempt: `const { createRequire } = node('module');
      const ways = [
        () => import('file://' + w.dataDir + '/module.mjs'),
        () => import('file://' + w.dataDir + '/module.json', { with: { type: 'json' } }),
        () => createRequire('/')(w.dataDir + '/module.json'),
        () => node('module')._load(w.dataDir + '/module.json'),
        () => process.loadEnvFile(w.dataDir + '/api-key'),
      ];
      for (const way of ways) try { await way(); return true } catch {}`,
  },
  {
    name: 'has the C library read a file, which it names in a variable (`RESOLV_HOST_CONF`, also by `process.loadEnvFile`)',
    process: 'stopped',
    jail: 'stopped',
    by: 'the variables that code sets do not reach the system, but for the time zone, `HOME` and `TMPDIR`; in a jail the file is not there',
    attempt: `fs.closeSync(2);
      fs.openSync('printed', 'w'); // in the place of the standard error
      fs.writeFileSync('vars', 'RESOLV_HOST_CONF=/etc/passwd');
      process.loadEnvFile('vars');
      process.env.RESOLV_HOST_CONF = '/etc/passwd';
      await new Promise((resolve) => node('dns').lookupService('127.0.0.1', 80, resolve));
      return fs.readFileSync('printed', 'utf8').includes('root:')`,
  },
  {
    name: 'learns whether a file, a folder or a process of the machine is there',
    process: 'possible',
    jail: 'stopped',
    by: 'in a jail they are not there; where the server is root, not what lies in folders that its user may not enter',
    attempt: `const isThere = (path) => { try { node('module').createRequire('/').resolve(path); return true } catch { return false } };
      return isThere('/etc/passwd') && !isThere('/etc/no-such-file') && node('module')._stat('/proc/' + w.serverPid) === 1`,
  },
  {
    name: 'changes into a folder outside its own',
    process: 'stopped',
    jail: 'stopped',
    by: PERMISSION,
    attempt: "process.chdir('/'); return process.cwd() === '/'",
  },
  {
    name: 'fills the disk through its `tmp`',
    process: 'possible',
    jail: 'stopped',
    by: 'in a jail /tmp is memory, up to `memory_mb`',
    attempt: `const part = Buffer.alloc(1e6);
      for (let n = 0; n < 2 * 64; n++) fs.appendFileSync('large', part);
      return fs.statSync('large').size === 2 * 64 * 1e6`,
  },
];
