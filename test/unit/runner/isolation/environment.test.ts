// Code's `process.env` is its own: what it writes there reaches no native code of the process, such as the C library, which
// opens files that variables name. Node's report tells what native code would find.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kit, returned } from '../kit.ts';

const REAL = 'const real = () => process.report.getReport().environmentVariables;';
const STARTED_WITH = ['HOME', 'TMPDIR', 'TZ'];

test('variables that code sets do not reach the system', async (t) => {
  const outcome = await kit(t).evaluate(
    `${REAL}
    const fs = node('fs');
    const original = process.env;
    process.env.BY_ASSIGNMENT = '1';
    Object.assign(process.env, { BY_ASSIGN: 1 });
    Object.defineProperty(process.env, 'BY_DEFINITION', { value: '1', enumerable: true, configurable: true, writable: true });
    Reflect.set(process.env, 'BY_REFLECT', '1');
    (await import('node:process')).env.BY_IMPORT = '1';
    fs.writeFileSync('vars', 'BY_FILE=1\\nTZ=Asia/Tokyo');
    process.loadEnvFile('vars');
    process.env = { BY_REPLACING: '1' };
    return [Object.keys(real()).sort(), Object.keys(original).filter((name) => /^BY_|MINE/.test(name)).sort(), original.TZ];`,
    { env: { MINE: '1', RESOLV_HOST_CONF: '/etc/passwd' } },
  );
  const [system, code, zone] = returned(outcome) as [string[], string[], string];
  assert.deepEqual(system, STARTED_WITH);
  const all = ['BY_ASSIGN', 'BY_ASSIGNMENT', 'BY_DEFINITION', 'BY_FILE', 'BY_IMPORT', 'BY_REFLECT', 'MINE'];
  assert.deepEqual(code, all);
  assert.equal(zone, 'UTC');
});

test('no trick leads to the environment of the system', async (t) => {
  const outcome = await kit(t).evaluate(
    `${REAL}
    const util = node('util');
    const found = [];
    Object.prototype[util.inspect.custom] = function () { found.push(this); return '' };
    const keep = { configurable: true, get() { found.push(this); return undefined }, set(value) { found.push(this) } };
    for (const name of ['HOME', 'LEAK']) Object.defineProperty(Object.prototype, name, keep);
    util.inspect(process.env, { showProxy: true });
    process.env.HOME; process.env.LEAK; process.env.HOME = '/h';
    for (const name of ['HOME', 'LEAK']) delete Object.prototype[name];
    delete Object.prototype[util.inspect.custom];
    for (const one of found) {
      one.LEAK = '1';
      try { one.set?.(one, 'LEAK', '1') } catch {}
    }
    RegExp.prototype.exec = () => null;
    String.prototype.startsWith = String.prototype.includes = () => false;
    for (const zone of ['/etc/shadow', ':/etc/shadow', '../../../etc/shadow', ':../x']) process.env.TZ = zone;
    return [found.length > 0, real()];`,
  );
  const [isFound, system] = returned(outcome) as [boolean, Record<string, string>];
  assert.equal(isFound, true);
  assert.deepEqual(Object.keys(system).sort(), STARTED_WITH);
  assert.equal(system.TZ, 'UTC');
});

test('the environment of code is otherwise as in Node', async (t) => {
  const outcome = await kit(t).evaluate(
    `${REAL}
    const os = node('os');
    const { env } = process;
    const fails = (act) => { try { act(); return null } catch ({ name }) { return name } };
    Object.assign(env, { TZ: 'Asia/Tokyo', HOME: '/tmp/home', TMPDIR: '/tmp/other', NUMBER: 7, NONE: undefined });
    const asked = [new Date(0).getHours(), os.homedir(), os.tmpdir()];
    const values = [env.NUMBER, env.NONE, env.ABSENT ?? null, 'NUMBER' in env, { ...env }.NUMBER, JSON.parse(JSON.stringify(env)).NUMBER];
    delete env.NUMBER; delete env.TZ;
    const failures = [() => { env[Symbol('x')] = 1 }, () => { env.X = Symbol('x') }, () => Object.freeze(env)].map(fails);
    env.AFTER = '1';
    for (const trap of ['get', 'has']) Object.prototype[trap] = () => true;
    const traps = [env.ABSENT ?? null, 'ABSENT' in env];
    for (const trap of ['get', 'has']) delete Object.prototype[trap];
    return [asked, values, 'NUMBER' in env, 'TZ' in env, 'TZ' in real(), failures, env.AFTER, traps];`,
  );
  assert.deepEqual(returned(outcome), [
    [9, '/tmp/home', '/tmp/other'],
    ['7', 'undefined', null, true, '7', '7'],
    false,
    false,
    false,
    ['TypeError', 'TypeError', 'TypeError'],
    '1',
    [null, false],
  ]);
});
