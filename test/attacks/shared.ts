import { deploymentOf, faultOf, type Kit, requestOf, returned, signal } from '../unit/runner/kit.ts';
import type { Attack } from './attack.ts';

const UNBELIEVING = 'the server believes nothing: the process is ended, and the run fails with `WorkerLost`';
const SAME = 'a process has the code of one deployment only; no level keeps its runs apart';

const FRAME = `const frame = (messages) => {
  const json = Buffer.from(JSON.stringify(messages));
  const head = Buffer.alloc(8); head.writeUInt32LE(json.length); head.writeUInt32LE(json.length, 4);
  return Buffer.concat([head, json]);
};`;
const WAITS = `if (steps.trigger.event.waits) { await $.respond({ immediate: true }); await new Promise((resolve) => { globalThis.go = resolve }); }`;
const WAITING = { event: Buffer.from('{"waits":true}') };

const WRITE = `const write = (bytes) => { for (let at = 0; at < bytes.length;) {
  try { at += fs.writeSync(3, bytes, at) } catch (error) { if (error.code !== 'EAGAIN') throw error } } };
  const json = (text) => { const head = Buffer.alloc(8); for (const at of [0, 4]) head.writeUInt32LE(text.length, at); return Buffer.concat([head, Buffer.from(text)]) };`;
const FLOODS = [
  'write(json("[" + "[],".repeat(12e6) + "[]]"));',
  'write(json("[" + "[],".repeat(2e6) + "[]]"));',
  'write(json("[" + "{},".repeat(80e3) + "{}]"));',
  'for (;;) write(json("[]"));',
  'for (;;) write(json("[[]]"));',
  'for (;;) write(frame([{ t: "loaded" }]));',
  'for (;;) write(frame([{ t: "stray", msg: "again" }]));',
  'for (;;) write(frame([{ t: "end", run: -1, kind: "succeeded" }]));',
  'for (;;) write(frame([{ t: "step", run: "1", bulk: [] }]));',
  'for (let run = 0; ; run = (run + 1) % 50) write(frame([{ t: "answer", run, bytes: 0, answer: { status: 200, headers: {} } }]));',
];

/** Whether code that does this ends without harm to the next run of another deployment. */
async function isHarmful(kit: Kit, body: string, code: string): Promise<boolean> {
  const fault = faultOf(await kit.run(`import fs from 'node:fs'; ${FRAME} export default async () => { ${body} }`));
  return fault.code !== code || returned(await kit.run('export default () => 1')) !== 1;
}

export const SHARED: readonly Attack[] = [
  {
    name: 'sends the server what is no message, or one that is too long',
    process: 'stopped',
    jail: 'stopped',
    by: UNBELIEVING,
    attempt: async (kit) => {
      const bodies = [
        'fs.writeSync(3, Buffer.alloc(64, 255)); await new Promise(() => {})',
        'fs.writeSync(3, frame([{ t: "what", run: 0, bytes: 9 }])); await new Promise(() => {})',
        'const head = Buffer.alloc(8); head.writeUInt32LE(2 ** 31, 0); fs.writeSync(3, head); await new Promise(() => {})',
      ];
      const harms = [];
      for (const body of bodies) harms.push(await isHarmful(kit, body, 'WorkerLost'));
      return harms.includes(true);
    },
  },
  {
    name: 'floods the server with messages: millions of values in one, or small ones without end',
    process: 'stopped',
    jail: 'stopped',
    by: 'frames are bounded in bytes and values before they are parsed, and messages in number: the process is ended, and the run fails with `WorkerLost`',
    attempt: async (kit) => {
      const harms = [];
      for (const body of FLOODS)
        harms.push(await isHarmful(kit, `${WRITE} ${body} await new Promise(() => {})`, 'WorkerLost'));
      return harms.includes(true);
    },
  },
  {
    name: "ends another deployment's run in its place",
    process: 'stopped',
    jail: 'stopped',
    by: 'a process can speak only of runs that it was given',
    attempt: async ({ run, runner }) => {
      const { came, onAnswer } = signal();
      const victim = requestOf(
        await deploymentOf(
          `export default async ({ $ }) => { await $.respond({ immediate: true }); await new Promise(() => {}) }`,
        ),
        { onAnswer, timeoutMs: 120_000 },
      );
      const outcome = runner.run(victim);
      await came;
      const forged = `{ t: 'end', run: ${victim.run}, kind: 'succeeded' }`;
      returned(
        await run(
          `import fs from 'node:fs'; ${FRAME} export default () => { fs.writeSync(3, frame([${forged}])); return 1 }`,
        ),
      );
      runner.cancel(victim.run);
      return (await outcome).end.kind === 'succeeded';
    },
  },
  {
    name: 'ends another run of its own deployment in its place',
    process: 'possible',
    jail: 'possible',
    by: SAME,
    attempt: async ({ runner }) => {
      const deployment = await deploymentOf(`import fs from 'node:fs'; ${FRAME} export default async ({ steps, $ }) => {
        ${WAITS} fs.writeSync(3, frame([{ t: 'end', run: steps.trigger.event.run, kind: 'succeeded' }])) }`);
      const { came, onAnswer } = signal();
      const victim = requestOf(deployment, { ...WAITING, onAnswer });
      const outcome = runner.run(victim);
      await came;
      await runner.run(requestOf(deployment, { event: Buffer.from(JSON.stringify({ run: victim.run })) }));
      runner.cancel(victim.run);
      return (await outcome).end.kind === 'succeeded';
    },
  },
  {
    name: 'changes the prototypes that another run of its own deployment uses',
    process: 'possible',
    jail: 'possible',
    by: SAME,
    attempt: async ({ run }) => {
      const deployment = await deploymentOf(`export default async ({ steps, $ }) => {
        ${WAITS} if (steps.trigger.event.waits) return {}.polluted === 1;
        Object.prototype.polluted = 1; globalThis.go() }`);
      const { came, onAnswer } = signal();
      const victim = run(deployment, { ...WAITING, onAnswer });
      await came;
      await run(deployment);
      return returned(await victim) === true;
    },
  },
  {
    name: 'changes the prototypes that the server uses',
    process: 'stopped',
    jail: 'stopped',
    by: 'it is another process; what it says is read member by member',
    attempt: async ({ run }) => {
      const given = '{ "__proto__": { "polluted": 1 }, "constructor": { "prototype": { "polluted": 1 } } }';
      await run(`export default ({ $ }) => { const made = JSON.parse('${given}');
        Object.assign(Object.prototype, { polluted: 1 }); $.export('__proto__', made); $.send.emit(made, 'constructor'); return made }`);
      return Object.hasOwn(Object.prototype, 'polluted') || 'polluted' in {};
    },
  },
  {
    name: 'throws what runs code when the server looks at it (getters, Proxies)',
    process: 'stopped',
    jail: 'stopped',
    by: 'it is looked at in its own process; the server gets texts',
    attempt: async (kit) => {
      const hostile = [
        'new Proxy({}, { get() { for (;;); }, getPrototypeOf() { throw 1 } })',
        'Object.defineProperty(new Error("x"), "message", { get() { throw new Proxy({}, {}) } })',
        'Object.assign(new Error("x"), { toJSON() { throw 1 }, toString() { throw 1 }, code: { toString() { throw 1 } } })',
      ];
      const outcomes = await Promise.all(
        hostile.map((value) => kit.run(`export default () => { throw ${value} }`, { timeoutMs: 3000 })),
      );
      return !outcomes.every((outcome) => typeof faultOf(outcome).msg === 'string');
    },
  },
  {
    name: 'replaces `Error.prepareStackTrace`, `JSON` and other functions that all code uses',
    process: 'stopped',
    jail: 'stopped',
    by: 'that it failed is told all the same',
    attempt: async ({ run }) => {
      const outcome =
        await run(`Error.prepareStackTrace = () => { throw 1 }; JSON.stringify = () => '{'; JSON.parse = () => 5;
        Array.prototype.map = Array.prototype.push = () => { throw 2 };
        export default () => { throw new Error('told') }`);
      return !/told|unable to say|ended its process/.test(faultOf(outcome).msg);
    },
  },
  {
    name: 'closes its descriptors 1 to 3',
    process: 'stopped',
    jail: 'stopped',
    by: UNBELIEVING,
    attempt: (kit) =>
      isHarmful(
        kit,
        'for (const fd of [1, 2, 3]) try { fs.closeSync(fd) } catch {} await new Promise(() => {})',
        'WorkerLost',
      ),
  },
  {
    name: 'writes hundreds of megabytes to its standard output and error',
    process: 'stopped',
    jail: 'stopped',
    by: 'the first goes nowhere, of the second the server keeps 16 KB',
    attempt: async ({ run }) => {
      const before = process.memoryUsage.rss();
      returned(
        await run(
          `import fs from 'node:fs';
        export default () => {
          const part = Buffer.alloc(1e6, 'x');
          const write = (fd) => { for (let at = 0; at < part.length;) try { at += fs.writeSync(fd, part, at) } catch (e) { if (e.code !== 'EAGAIN') throw e } };
          for (let n = 0; n < 200; n++) for (const fd of [1, 2]) write(fd);
          return 1;
        }`,
          { timeoutMs: 600_000 },
        ),
      );
      return process.memoryUsage.rss() - before > 200 * 1024 * 1024;
    },
  },
  {
    name: 'runs code that it makes itself (`eval`, `data:` imports, `node:vm`, hooks on its own imports)',
    process: 'possible',
    jail: 'possible',
    by: 'it may do nothing that its other code may not',
    attempt: `const { default: two } = await import('data:text/javascript,export default 1 + 1');
      node('module').registerHooks({ resolve: (specifier, context, next) => next(specifier, context) });
      return two + eval('1') + node('vm').runInNewContext('1') === 4`,
  },
];
