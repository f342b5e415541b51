// Code that fails in every way there is, as the second of two steps, and what is told of it.

export interface HostileCase {
  /** What the second step does, on its third line. */
  readonly body: string;
  readonly code: string;
  readonly msg: RegExp;
  /** Null: nothing of the thrown value, or of a process that is gone, says which line it was. */
  readonly line: 3 | null;
  readonly memoryMb?: number;
  readonly timeoutMs?: number;
  /** Its process does not answer the halt. */
  readonly isSilent?: boolean;
}

const HOSTILE = '() => { throw new Error("trap") }';
const HANGS = { code: 'Timeout', msg: /^The run took longer than its limit of \d+ ms$/, line: null, timeoutMs: 700 };
const LOOPS = { ...HANGS, isSilent: true };

export const HOSTILE_CASES: Record<string, HostileCase> = {
  'a throw': { body: 'throw new RangeError("thrown")', code: 'RangeError', msg: /^thrown$/, line: 3 },
  'an async rejection': {
    body: 'await null; return Promise.reject(new RangeError("rejected"))',
    code: 'RangeError',
    msg: /^rejected$/,
    line: 3,
  },
  'a rejection nobody handles': {
    body: 'Promise.reject(new RangeError("forgotten")); await forEver',
    code: 'RangeError',
    msg: /^forgotten$/,
    line: 3,
  },
  'an exception in a timer': {
    body: 'setTimeout(() => { throw new RangeError("timer") }, 1); await forEver',
    code: 'RangeError',
    msg: /^timer$/,
    line: 3,
  },
  'a thrown string': { body: 'throw "only text"', code: 'Error', msg: /^only text$/, line: null },
  'a thrown null': { body: 'throw null', code: 'Error', msg: /^null$/, line: null },
  'a frozen error': { body: 'throw Object.freeze(new TypeError("ice"))', code: 'TypeError', msg: /^ice$/, line: 3 },
  'a frozen object': { body: 'throw Object.freeze({ a: 1 })', code: 'Error', msg: /^\{ a: 1 \}$/, line: null },
  'a hostile Proxy': {
    body: `throw new Proxy(new Error('inner'), { get: ${HOSTILE}, getPrototypeOf: ${HOSTILE}, ownKeys: ${HOSTILE} })`,
    code: 'Error',
    msg: /inner/,
    line: null,
  },
  'getters that throw': {
    body: `throw Object.defineProperties(new Error('m'), { message: { get: ${HOSTILE} }, code: { get: ${HOSTILE} }, cause: { get: ${HOSTILE} } })`,
    code: 'Error',
    msg: /./,
    line: 3,
  },
  'a circular cause': {
    body: 'const a = new Error("outer"); a.cause = new Error("inner", { cause: a }); throw a',
    code: 'Error',
    msg: /^outer$/,
    line: 3,
  },
  'an AggregateError': {
    body: 'await Promise.any([Promise.reject(new Error("a")), Promise.reject(new Error("b"))])',
    code: 'AggregateError',
    msg: /^All promises were rejected: a; b$/,
    line: null,
  },
  'a BigInt returned': {
    body: 'return { n: 1n }',
    code: 'TypeError',
    msg: /^The return value of the step two is not a JSON value \(.*BigInt\)$/,
    line: null,
  },
  'a message of 100 MB': {
    body: 'throw new RangeError("x".repeat(100 << 20))',
    code: 'RangeError',
    msg: /^x{8192}$/,
    line: 3,
  },
  'process.exit': { body: 'process.exit(7)', code: 'WorkerExit', msg: /process\.exit\(7\)/, line: 3 },
  'process.abort': { body: 'process.abort()', code: 'WorkerExit', msg: /process\.abort\(\)/, line: 3 },
  'an endless loop': { body: 'for (;;);', ...LOOPS },
  'an endless loop of microtasks': { body: 'for (;;) await null', ...LOOPS },
  'endless microtasks beside it': {
    body: 'const again = () => queueMicrotask(again); again(); await forEver',
    ...LOOPS,
  },
  'endless ticks': { body: 'const again = () => process.nextTick(again); again(); await forEver', ...LOOPS },
  'a step that never settles': { body: 'await forEver', ...HANGS },
  'a full heap': {
    body: 'const all = []; for (;;) all.push(new Array(10_000).fill(all.length))',
    code: 'OutOfMemory',
    msg: /^The code used more than its 32 MB of memory$/,
    line: null,
    memoryMb: 32,
  },
  'too many Buffers': {
    body: 'const all = []; for (;;) all.push(Buffer.alloc(8_000_000, 1))',
    code: 'OutOfMemory',
    msg: /^The code used more than its 32 MB of memory$/,
    line: null,
    memoryMb: 32,
  },
  'a stack overflow': {
    body: 'const f = () => f() + 1; return f()',
    code: 'RangeError',
    msg: /^Maximum call stack size exceeded$/,
    line: 3,
  },
  'a broken pipe': {
    body: '(await import("node:fs")).closeSync(3); await forEver',
    code: 'WorkerLost',
    msg: /./,
    line: null,
  },
};
