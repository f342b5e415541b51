import { faultOf, returned, until } from '../unit/runner/kit.ts';
import type { Attack } from './attack.ts';

const PERMISSION = "Node's permission model";

export const PROCESSES: readonly Attack[] = [
  {
    name: "sees the server's environment",
    process: 'stopped',
    jail: 'stopped',
    by: 'its own has nothing of the server',
    attempt: `const seen = JSON.stringify([process.env, process.report.getReport().environmentVariables ?? {}]);
      return seen.includes(w.secret) || 'PATH' in process.env || process.env.HOME !== process.env.TMPDIR`,
  },
  {
    name: 'reads `/proc/<server>/environ`',
    process: 'stopped',
    jail: 'stopped',
    by: `${PERMISSION}; another user, where the server is root; in a jail there are no other processes`,
    attempt: "return fs.readFileSync('/proc/' + w.serverPid + '/environ').length > 0",
  },
  {
    name: "reads the server's memory",
    process: 'stopped',
    jail: 'stopped',
    by: `${PERMISSION}; another user, where the server is root; in a jail there are no other processes`,
    attempt: "fs.closeSync(fs.openSync('/proc/' + w.serverPid + '/mem')); return true",
  },
  {
    name: "reads the memory of another deployment's process",
    process: 'stopped',
    jail: 'stopped',
    by: `${PERMISSION}; the system, which closes it to others of the same user; in a jail there are no other processes`,
    unhindered: false,
    attempt: `return ['maps', 'mem'].some((name) => { try { fs.closeSync(fs.openSync('/proc/' + w.otherPid + '/' + name)); return true } catch {} })`,
  },
  {
    name: 'sends a signal to the server, or to any process',
    process: 'stopped',
    jail: 'stopped',
    by: 'the functions are taken away; in a jail there are no other processes',
    attempt: `const unborn = () => { if (new (node('child_process').ChildProcess)()._handle.kill(0) !== 0) fail() };
      const ways = [process.kill, process._kill, process._debugProcess, (await import('node:process')).kill, unborn];
      return ways.some((kill) => [w.serverPid, process.ppid].some((pid) => { try { kill(pid, 0); return pid > 1 } catch {} }))`,
  },
  {
    name: "changes the server's priority",
    process: 'stopped',
    jail: 'stopped',
    by: 'the function is taken away; in a jail there are no other processes',
    attempt: `os.setPriority(w.serverPid, 1); return true`,
  },
  {
    name: 'becomes another user',
    process: 'stopped',
    jail: 'stopped',
    by: 'the system; where the server is root, the process has given that up',
    unhindered: false,
    attempt: `const before = process.getuid();
      for (const way of [() => process.setgroups([0]), () => process.setgid(0), () => process.setegid(0), () => process.seteuid(0), () => process.setuid(0)])
        try { way() } catch {}
      return before === 0 || process.getuid() === 0 || process.geteuid() === 0`,
  },
  {
    name: 'starts a process',
    process: 'stopped',
    jail: 'stopped',
    by: PERMISSION,
    attempt: `const cp = node('child_process');
      const ways = [
        () => cp.execFileSync(process.execPath, ['--version']),
        () => cp.spawn(process.execPath, ['--version']).pid ?? fail(),
        () => cp.fork('x.mjs').pid ?? fail(),
        () => node('cluster').fork().process.pid ?? fail(),
        () => process.execve(process.execPath, ['node', '--version']),
      ];
      return ways.some((way) => { try { way(); return true } catch {} })`,
  },
  {
    name: 'starts processes without end (a fork bomb)',
    process: 'stopped',
    jail: 'stopped',
    by: `${PERMISSION}, before the first one`,
    unhindered: false,
    attempt: `const cp = node('child_process');
      let started = 0;
      for (let n = 0; n < 1000; n++) try { if (cp.spawn(process.execPath, ['-e', '0']).pid) started++ } catch {}
      return started > 0`,
  },
  {
    name: 'starts a worker thread, also as a loader of modules',
    process: 'stopped',
    jail: 'stopped',
    by: PERMISSION,
    attempt: `const ways = [
        () => new (node('worker_threads').Worker)('0', { eval: true }),
        () => node('module').register('data:text/javascript,export const resolve = (s, c, next) => next(s, c)'),
      ];
      return ways.some((way) => { try { way(); return true } catch {} })`,
  },
  {
    name: 'opens the inspector, of its own process or of the server',
    process: 'stopped',
    jail: 'stopped',
    by: PERMISSION,
    attempt: `const inspector = node('inspector');
      const ways = [() => inspector.open(0), () => new inspector.Session().connect(), () => process._debugProcess(w.serverPid)];
      return ways.some((way) => { try { way(); return true } catch {} })`,
  },
  {
    name: "calls Node's internal bindings (`process.binding`)",
    process: 'stopped',
    jail: 'stopped',
    by: PERMISSION,
    attempt: `const ways = ['fs', 'spawn_sync', 'process_wrap'].flatMap((name) => [() => process.binding(name), () => process._linkedBinding(name)]);
      return ways.some((way) => { try { way(); return true } catch {} })`,
  },
  {
    name: 'loads native code: an addon, `node:ffi`, an OpenSSL engine',
    process: 'stopped',
    jail: 'stopped',
    by: `${PERMISSION}; what of \`node:ffi\` the process itself needs is given up before code is loaded`,
    attempt: `const library = '/lib/' + (process.arch === 'arm64' ? 'aarch64' : 'x86_64') + '-linux-gnu/libm.so.6';
      const ways = [
        () => process.dlopen({ exports: {} }, library),
        () => node('module').createRequire('/')(library + '.node'),
        async () => (await import('node:ffi')).dlopen(library, {}),
        () => node('crypto').setEngine(library),
      ];
      for (const way of ways) try { await way(); return true } catch (e) { if (/invalid ELF|self-register|undefined symbol/.test(e.message)) return true }`,
  },
  {
    name: 'opens files through `node:wasi`',
    process: 'stopped',
    jail: 'stopped',
    by: PERMISSION,
    attempt: `const { WASI } = await import('node:wasi'); new WASI({ version: 'preview1', preopens: { '/': '/' } }); return true`,
  },
  {
    name: 'needs more memory than `memory_mb`, in the heap or outside',
    process: 'stopped',
    jail: 'stopped',
    by: 'its process is ended within 50 ms, and the run fails with `OutOfMemory`',
    attempt: async ({ run }) => {
      const code = 'export default () => { const kept = []; for (;;) kept.push(Buffer.alloc(8_000_000, 1)) }';
      return faultOf(await run(code, { memoryMb: 64 })).code !== 'OutOfMemory';
    },
  },
  {
    name: 'never ends',
    process: 'stopped',
    jail: 'stopped',
    by: 'its process is ended, and the run fails with `Timeout`',
    attempt: async ({ run }) =>
      faultOf(await run('export default () => { for (;;); }', { timeoutMs: 500 })).code !== 'Timeout',
  },
  {
    name: 'keeps the CPU busy after its run has ended',
    process: 'stopped',
    jail: 'stopped',
    by: 'its process is ended after a second of CPU',
    attempt: async ({ run, runner }) => {
      const { processes } = runner.stats();
      const spin = 'const spin = () => { for (let n = 0; n < 1e7; n++); setImmediate(spin) }';
      returned(await run(`${spin}; export default () => { setImmediate(spin); return 1 }`));
      await until(() => runner.stats().processes <= processes);
      return false;
    },
  },
];
