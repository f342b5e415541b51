// The types of `errand/client`, as programs meet them: what must compile compiles, and what must not is refused at its line.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/.bin/tsc');

const HEAD = `
import { ConnectionError, Errand, etagOf, ProblemError, type Run, textOf, type Webhook } from 'errand/client';
const errand = new Errand({ url: 'https://errand.example.com', key: 'k' });
`;

/** Each in a function of its own. */
const GOOD = [
  'const { data } = await errand.getRun({ id: "r_1" }); const run: Run = data; return run.state === "failed";',
  'const page = await errand.searchRuns({ state: "failed", limit: 10 }); const first: Run | undefined = page.data[0]; return first;',
  'for await (const run of errand.searchRuns()) { const state: Run["state"] = run.state; return state; } return;',
  'for await (const page of errand.listWebhooks({}).pages()) { const all: readonly Webhook[] = page.data; return all; } return;',
  'await errand.createWebhook({ url: "https://example.com", retry: { delays_ms: [1] }, name: null }, { signal: AbortSignal.timeout(1) });',
  'const { data } = await errand.createWebhook({ url: "https://example.com" }); const secret: string = data.secret; return secret;',
  'for await (const event of errand.streamErrors({ code: "TypeError" }, { lastEventId: "1-0", onDisconnect: (e) => console.log(e) })) { if (event.kind === "event") return event.data.event.error.msg; return event.after; } return;',
  'for await (const error of errand.exportErrors({ since: "2026-01-31" })) return error.original_event_text ?? error.original_event_base64; return;',
  'await errand.callEndpoint({ key: "abc", body: { order: 7 } }, { idempotencyKey: "order-7" });',
  'await errand.setDataRecord({ id: "ds_1", key: "k", value: [1, null, "x"] });',
  'try { await errand.getMe(); } catch (error) { if (error instanceof ProblemError && error.code === "rate_limited") return error.retryAfterMs; if (error instanceof ConnectionError) return error.wasSent; throw error; } return;',
  'const text: string = await errand.getMetrics(); return text;',
  'textOf(await errand.getRun({ id: "r_1" })).length; await errand.runWorkflow({ id: "p_1", event: null }, { bodyText: "{}" });',
  'const read = await errand.getDataRecord({ id: "ds_1", key: "k" }); await errand.setDataRecord({ id: "ds_1", key: "k", value: 1 }, { ifMatch: etagOf(read) }); await errand.setDataRecord({ id: "ds_1", key: "k", value: 1 }, { ifNoneMatch: "*" });',
  'const maybe: string | undefined = [""].pop(); const given = new Errand({ url: maybe, key: maybe, timeoutMs: undefined }); return given.searchRuns({ state: undefined, since: maybe }, { signal: undefined });',
  'return new Errand({ fetch: async (input, init) => fetch(input, init), headers: { cookie: "a=b" } });',
];

/** Each with what the compiler says. */
const BAD: readonly (readonly [code: string, message: RegExp])[] = [
  ['await errand.getRun();', /Expected 1-2 arguments/],
  ['await errand.getRun({});', /Property 'id' is missing/],
  ['await errand.getRun({ id: 7 });', /Type 'number' is not assignable to type 'string'/],
  ['await errand.searchRuns({ stat: "failed" });', /'stat' does not exist/],
  ['await errand.searchRuns({ state: "broken" });', /'"broken"' is not assignable/],
  ['await errand.createWebhook({ name: "x" });', /Property 'url' is missing/],
  [
    'await errand.createWebhook({ url: "https://example.com", retry: { delays_ms: ["1"] } });',
    /not assignable to type 'number'/,
  ],
  ['const { data } = await errand.getRun({ id: "r_1" }); return data.stats;', /Property 'stats' does not exist/],
  ['const { data } = await errand.getRun({ id: "r_1" }); data.state = "failed";', /read-only property/],
  ['for await (const run of errand.getRun({ id: "r_1" })) return run; return;', /asyncIterator/],
  ['for await (const event of errand.streamErrors()) return event.data; return;', /Property 'data' does not exist/],
  ['await errand.getMe({ id: "u_1" });', /not assignable to type 'never'/],
  ['await errand.lookForRuns({});', /Property 'lookForRuns' does not exist/],
  [
    'try { await errand.getMe(); } catch (error) { if (error instanceof ProblemError) return error.code === "rate-limited"; } return;',
    /no overlap/,
  ],
  [
    'await errand.setDataRecord({ id: "ds_1", key: "k", value: 1 }, { ifNoneMatch: "x" });',
    /not assignable to type '"\*"'/,
  ],
  ['return new Errand({ key: 7 });', /not assignable to type 'string'/],
  ['return new Errand({ token: "x" });', /'token' does not exist/],
];

async function compile(code: string, libs: readonly string[], types: readonly string[] = []): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-types-'));
  try {
    await writeFile(join(dir, 'program.ts'), code);
    await writeFile(join(dir, 'package.json'), '{"type": "module"}');
    const compilerOptions = {
      ...{
        noEmit: true,
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        target: 'es2024',
        module: 'nodenext',
        allowImportingTsExtensions: true,
      },
      ...{
        lib: libs,
        types,
        typeRoots: [join(ROOT, 'node_modules/@types')],
        paths: { 'errand/client': [join(ROOT, 'src/client/client.ts')] },
      },
    };
    await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    const stdout = await new Promise<string>((resolve) => {
      execFile(TSC, ['-p', dir, '--pretty', 'false'], { cwd: dir }, (_error, text) => resolve(text));
    });
    return stdout.split('\n').filter((line) => line !== '');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const programOf = (codes: readonly string[]): string =>
  HEAD + codes.map((code, n) => `export const f${n} = async () => { ${code} };\n`).join('');
const FIRST_LINE = HEAD.split('\n').length;

test('programs that use the client well compile', async () => {
  // A browser's library: nothing of Node's.
  assert.deepEqual(await compile(programOf(GOOD), ['es2024', 'dom', 'dom.asynciterable']), []);
});

test('the examples of the document compile', async () => {
  const document = await readFile(join(ROOT, 'docs/client.md'), 'utf8');
  const examples = [...document.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code as string);
  assert.ok(examples.length > 4);
  for (const code of examples) assert.deepEqual(await compile(code, ['es2024'], ['node']), [], code);
});

test('each misuse of the client is refused', async () => {
  const found = await compile(programOf(BAD.map(([code]) => code)), ['es2024', 'dom', 'dom.asynciterable']);
  for (const [n, [code, message]] of BAD.entries()) {
    const own = found.filter((line) => line.includes(`program.ts(${FIRST_LINE + n},`));
    // What follows indented belongs to the line before it.
    const at = found.indexOf(own[0] ?? '');
    const next = found.findIndex((line, m) => m > at && line.startsWith('program.ts('));
    const said = at < 0 ? '' : found.slice(at, next < 0 ? undefined : next).join('\n');
    assert.match(said, message, code);
  }
});
