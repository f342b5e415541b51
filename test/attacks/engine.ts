import { hardeningObstacle } from '../../src/runner/isolation/hardening.ts';
import { callSystem, OUTSIDE } from '../unit/runner/isolation/native.ts';
import type { Attack } from './attack.ts';

const TAKEN = 'the function is taken away';

/** Writes what libuv would follow as an address: into its pipes, or into sockets that are opened in their place. */
const MISDIRECTS = [
  `for (const pipe of pipes) try { fs.writeSync(pipe, message) } catch {}`,
  `const server = net.createServer((socket) => {
      for (const pipe of pipes.splice(0)) try { fs.closeSync(pipe) } catch {}
      socket.on('error', () => {}).on('data', () => { if (++came === 8) go() });
    }).listen(0, '127.0.0.1');
    let came = 0; let go; const some = new Promise((resolve) => { go = resolve });
    await new Promise((resolve) => server.once('listening', resolve));
    for (let n = 0; n < 16; n++) {
      const socket = net.connect(server.address().port, '127.0.0.1', () => setImmediate(() => socket.write(message)));
      socket.on('error', () => {});
    }
    await some;`,
].map(
  (body) => `import fs from 'node:fs'; import net from 'node:net';
    export default async () => {
      const pipes = Array.from({ length: 60 }, (_, n) => n + 4).filter((n) => { try { return fs.fstatSync(n).isFIFO() } catch {} });
      const message = Buffer.alloc(16, 0x41);
      ${body}
      for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    }`,
);

/** Every way to a module of Node's: each gives the same object, or another module. */
const WAYS = `const nodeModule = node('module');
  const own = nodeModule.createRequire('/');
  const waysTo = (name) => [
    () => node(name), () => import('node:' + name), () => import(name), async () => (await import('node:' + name)).default,
    () => own(name), () => own('node:' + name), () => globalThis.require(name), () => nodeModule._load(name),
    () => new nodeModule.Module('x').require(name), () => nodeModule.Module.prototype.require.call({ id: '.' }, name),
    () => nodeModule.constructor._load(name), () => process.mainModule.require(name),
    () => node('vm').runInThisContext('process').getBuiltinModule(name),
    () => node('vm').runInNewContext('this.constructor.constructor("return process")()').getBuiltinModule(name),
    () => node('vm').runInNewContext('process', { process }).getBuiltinModule(name),
    () => new ShadowRealm().importValue(name, 'default'),
    () => (nodeModule.syncBuiltinESMExports(), node(name)),
    () => { const at = node('repl').builtinModules ?? node('repl')._builtinLibs; return own(at.find((m) => m === name)) },
  ];
  const eachOf = async (name, attempt) => { for (const way of waysTo(name)) try { if (await attempt(await way())) return true } catch {} return false };`;

export const ENGINE: readonly Attack[] = [
  {
    name: 'sets flags of V8 (`v8.setFlagsFromString`), which opens all memory of the process or writes files',
    process: 'stopped',
    jail: 'stopped',
    by: `${TAKEN}; the flags are frozen, and setting one ends the process`,
    attempt: `${WAYS}
      const before = node('v8').getHeapStatistics().heap_size_limit;
      return await eachOf('v8', (v8) => {
        v8.setFlagsFromString('--allow-natives-syntax');
        return new Function('return %HasFastProperties({}) !== undefined')();
      })`,
  },
  {
    name: 'has V8 run what it says was compiled before (`cachedData`, compile caches, startup snapshots)',
    process: 'stopped',
    jail: 'stopped',
    by: 'such code is refused, or not looked at',
    attempt: `${WAYS}
      const data = (vm) => new vm.Script('1 + 1').createCachedData();
      const seen = {};
      let leaked;
      Object.defineProperty(Object.prototype, 'sourceMapURL', { configurable: true, set(value) { leaked = this } });
      try { new (node('vm').Script)('1') } finally { delete Object.prototype.sourceMapURL }
      const native = [leaked?.constructor, Object.getPrototypeOf(leaked ?? {})?.constructor, Object.getPrototypeOf(Object.getPrototypeOf(leaked ?? {}) ?? {})?.constructor];
      const attempts = [
        (vm) => new vm.Script('1 + 1', { cachedData: data(vm) }).cachedDataRejected === false,
        (vm) => new (class extends vm.Script {})('1 + 1', { cachedData: data(vm) }).cachedDataRejected === false,
        (vm) => Reflect.construct(vm.Script, ['1 + 1', { cachedData: data(vm) }], Object).cachedDataRejected === false,
        (vm) => { let reads = 0; return new vm.Script('1 + 1', { get cachedData() { return reads++ ? undefined : data(vm) } }).cachedDataRejected === false },
        (vm) => vm.createScript('1 + 1', { cachedData: data(vm) }).cachedDataRejected === false,
        (vm) => vm.runInThisContext('1 + 1', { cachedData: data(vm) }) === 2,
        (vm) => { const from = vm.compileFunction('return 1', [], { produceCachedData: true }).cachedData; return vm.compileFunction('return 1', [], { cachedData: from }).cachedDataRejected === false },
        (vm) => { const from = vm.compileFunction('return 1', [], { produceCachedData: true }).cachedData; return vm.compileFunction('return 1', [], Object.create({ cachedData: from })).cachedDataRejected === false },
        (vm) => { let reads = 0; const from = vm.compileFunction('return 1', [], { produceCachedData: true }).cachedData; return vm.compileFunction('return 1', [], { get cachedData() { return reads++ ? from : undefined } }).cachedDataRejected === false },
        (vm) => [vm.Script, ...native].some((made) => { try { return new (Object.getPrototypeOf(made))('1 + 1', 'x', 0, 0, data(vm), false, undefined, Symbol('x')).cachedDataRejected === false } catch {} }),
        (vm) => [Object.getPrototypeOf(vm.Script.prototype).constructor, ...native].some((made) => { try { return new made('1 + 1', 'x', 0, 0, data(vm), false, undefined, Symbol('x')).cachedDataRejected === false } catch {} }),
      ];
      for (const attempt of attempts) if (await eachOf('vm', attempt)) return true;
      if (await eachOf('module', (module) => module.enableCompileCache(process.cwd() + '/cache').status <= 2)) return true;
      return await eachOf('v8', (v8) => { v8.startupSnapshot.setDeserializeMainFunction(() => {}); return true })`,
  },
  {
    name: 'has Node write files by itself: snapshots near the limit of the heap, traces, coverage, reports of failures',
    process: 'stopped',
    jail: 'stopped',
    by: TAKEN,
    attempt: `${WAYS}
      const wrote = (name, attempt) => eachOf(name, (module) => { attempt(module); return true });
      if (await wrote('v8', (v8) => v8.setHeapSnapshotNearHeapLimit(1))) return true;
      if (await wrote('v8', (v8) => v8.writeHeapSnapshot('heap'))) return true;
      if (await wrote('trace_events', (events) => events.createTracing({ categories: ['node'] }).enable())) return true;
      if (await wrote('process', ({ report }) => { report.reportOnUncaughtException = true; report.directory = w.openDir;
        if (Object.getOwnPropertyDescriptor(report, 'directory').get === undefined) fail() })) return true;
      return await wrote('process', ({ report }) => report.writeReport('report'))`,
  },
  {
    name: 'opens descriptors without end, for each of which the kernel keeps memory (sockets, pipes)',
    process: 'stopped',
    jail: 'stopped',
    by: 'it may have 512 (1024 where its connections go through the server)',
    unhindered: false,
    attempt: `const dgram = node('dgram');
      const opened = () => new Promise((resolve) => dgram.createSocket('udp4').on('error', () => resolve(false)).bind(0, '127.0.0.1', () => resolve(true)));
      let open = 0;
      while (open < 3000 && await opened()) open++;
      return open > 1024`,
  },
  {
    name: 'writes a file of more than a gigabyte',
    process: 'stopped',
    jail: 'stopped',
    by: 'the system: no process may; in a jail /tmp is smaller than that',
    attempt: `const file = fs.openSync('large', 'w'); fs.ftruncateSync(file, 2 ** 30 + 1); return true`,
  },
  {
    name: 'has libuv call any address, through the pipes by which it learns of signals, or sockets that are opened in their place',
    process: 'stopped',
    jail: 'stopped',
    by: 'a filter of system calls (seccomp), where there is one: nothing writes to these pipes or closes them',
    attempt: async ({ run }) => {
      if (hardeningObstacle() !== null) return false; // the table says so
      const outcomes = [];
      for (const code of MISDIRECTS) outcomes.push(await run(code));
      return !outcomes.every(({ end }) => end.kind === 'succeeded');
    },
  },
  {
    name: 'leaves Node altogether, and then starts a program or a process, signals or traces others, mounts or becomes another user',
    process: 'stopped',
    jail: 'stopped',
    by: 'a filter of system calls (seccomp), on x64 and arm64, where Node has `node:ffi` (26); in a jail it stands before Node is started, too',
    attempt: async ({ isolation }) => {
      if (hardeningObstacle() !== null) return false; // the table says so
      const given = callSystem(OUTSIDE, isolation.level === 'jail' ? { inJail: true } : { isHardened: true });
      return Object.values(given).some((value) => value >= 0);
    },
  },
];
