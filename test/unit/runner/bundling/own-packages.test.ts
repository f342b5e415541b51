// The package `axios`, which code imports without a folder of packages: what is bundled, and how it runs at each level.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bundleStep } from '../../../../src/runner/bundling/bundle.ts';
import { bundleFile } from '../../../../src/runner/bundling/bundle-file.ts';
import { createAddresses } from '../../../../src/webhook/address.ts';
import { createEgress } from '../../../../src/webhook/egress.ts';
import { noJail } from '../isolation/jail-kit.ts';
import { ISOLATION, type Kit, kit, returned } from '../kit.ts';

const skip = await noJail();

async function folder(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'errand-own-')));
  t.after(() => rm(dir, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return dir;
}

async function serving(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer((request, response) => {
    response.setHeader('connection', 'close');
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Answers with what it saw; `/gzip` compressed, `/to/<address>` with a redirect, `/status/<code>` with that, `/never` not at all. */
const echo: RequestListener = async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { method, url = '', headers } = request;
  if (url === '/never') return;
  if (url === '/gzip') return void response.setHeader('content-encoding', 'gzip').end(gzipSync('{"zipped":true}'));
  if (url.startsWith('/to/')) return void response.writeHead(302, { location: url.slice('/to/'.length) }).end();
  response.statusCode = Number(/^\/status\/(\d+)/.exec(url)?.[1] ?? 200);
  response.end(JSON.stringify({ method, url, headers, body }));
};

/** Code reaches 127.0.0.1 alone, by every name. */
function jailed(t: TestContext): Kit {
  const addresses = createAddresses({ allowTargets: ['127.0.0.1/32'] });
  const openEgress = createEgress({ addresses, lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
  return kit(t, { isolation: { ...ISOLATION, level: 'jail', network: 'public' }, openEgress });
}

const USES = `import axios, { AxiosError, AxiosHeaders, isAxiosError } from 'axios';
  const url = 'URL';
  const failed = async (config) => {
    try { await axios(config); } catch (error) { return error; }
  };
  export default async () => {
    const api = axios.create({ baseURL: url, headers: { 'x-from': 'create' } });
    api.interceptors.request.use((config) => { config.headers.set('x-asked', 'yes'); return config; });
    api.interceptors.response.use(({ data }) => data);
    const posted = await api.post('/a?b=c', { n: 1 }, { params: { list: [1, 2] } });
    const form = new FormData();
    form.append('field', 'value');
    const sent = await api.post('/form', form);
    const streamed = await axios.get(url + '/s', { responseType: 'stream' });
    let text = '';
    for await (const chunk of streamed.data) text += chunk;
    const bytes = await axios.get(url + '/b', { responseType: 'arraybuffer' });
    const gone = await failed({ url: url + '/status/404' });
    const stopped = new AbortController();
    const waiting = failed({ url: url + '/never', signal: stopped.signal });
    stopped.abort();
    return {
      posted: [posted.method, posted.url, posted.body, posted.headers['x-from'], posted.headers['x-asked']],
      form: /^multipart\\/form-data/.test(sent.headers['content-type']) && sent.body.includes('value'),
      zipped: (await axios.get(url + '/gzip')).data,
      streamed: JSON.parse(text).url,
      bytes: Buffer.isBuffer(bytes.data),
      gone: [gone instanceof AxiosError, isAxiosError(gone), gone.code, gone.response.status, gone.response.data.url],
      large: (await failed({ url: url + '/large', maxContentLength: 5 })).message,
      late: (await failed({ url: url + '/never', timeout: 20 })).code,
      stopped: (await waiting).code,
      headers: streamed.headers instanceof AxiosHeaders,
    };
  };`;

const USED = {
  posted: ['POST', '/a?b=c&list%5B%5D=1&list%5B%5D=2', '{"n":1}', 'create', 'yes'],
  form: true,
  zipped: { zipped: true },
  streamed: '/s',
  bytes: true,
  gone: [true, true, 'ERR_BAD_REQUEST', 404, '/status/404'],
  large: 'maxContentLength size of 5 exceeded',
  late: 'ECONNABORTED',
  stopped: 'ERR_CANCELED',
  headers: true,
};

test('code imports axios without a folder of packages', async (t) => {
  const url = `http://127.0.0.1:${await serving(t, echo)}`;
  assert.deepEqual(returned(await kit(t).run(USES.replace('URL', url))), USED);
});

test('in a jail axios goes through the server', { skip }, async (t) => {
  const url = `http://receiver.test:${await serving(t, echo)}`;
  assert.deepEqual(returned(await jailed(t).run(USES.replace('URL', url))), USED);
});

test('every hop of a redirect is judged', { skip }, async (t) => {
  const port = await serving(t, echo);
  const code = (to: string): string => `import axios from 'axios';
    export default async () => {
      try { return (await axios.get('http://receiver.test:${port}/to/${to}')).data.url; }
      catch (error) { return error.code; }
    };`;
  const { run } = jailed(t);
  assert.equal(returned(await run(code(`http://receiver.test:${port}/allowed`))), '/allowed');
  for (const host of ['169.254.169.254', '10.0.0.1']) {
    assert.equal(returned(await run(code(`http://${host}:${port}/refused`))), 'ERR_TARGET_FORBIDDEN', host);
  }
});

test('code of CommonJS requires axios', async (t) => {
  const url = `http://127.0.0.1:${await serving(t, echo)}`;
  const code = `const axios = require('axios'); const { AxiosError } = require('axios');
    module.exports = async () => {
      const gone = await axios('${url}/status/500').catch((error) => error);
      return [(await axios({ url: '${url}/x' })).data.url, gone instanceof AxiosError, typeof axios.default.create];
    };`;
  assert.deepEqual(returned(await kit(t).run(code)), ['/x', true, 'function']);
});

test('proxies of the server’s environment are not used', async (t) => {
  const port = await serving(t, echo);
  for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) {
    process.env[name] = 'http://127.0.0.1:1';
    t.after(() => delete process.env[name]);
  }
  const code = `import axios from 'axios'; export default async () => (await axios.get('http://127.0.0.1:${port}/p')).data.url;`;
  assert.equal(returned(await kit(t).run(code)), '/p');
});

const OTHER = {
  'node_modules/axios/package.json': '{"name":"axios","version":"0.27.2","main":"index.js"}',
  'node_modules/axios/index.js': 'module.exports = "their own";',
};

test('an installed axios is preferred', async (t) => {
  const dir = await folder(t, { ...OTHER, 'c/own.mjs': 'import axios from "axios"; export default axios;' });
  const code = 'import axios from "axios@^0.27"; export default axios;';
  for (const bundled of [
    await bundleStep({ namespace: 'step', code }, dir),
    await bundleStep({ namespace: 'step', dir: join(dir, 'c'), path: 'own.mjs' }, dir),
  ]) {
    assert.ok(bundled.ok, JSON.stringify(bundled));
    assert.match(bundled.bundle, /their own/);
    assert.doesNotMatch(bundled.bundle, /AxiosError/);
  }
  const file = 'import axios from "axios"; export default { kind: axios };';
  await writeFile(join(dir, 'flow.mjs'), file);
  const flow = await bundleFile({ dir, path: 'flow.mjs' });
  assert.ok(flow.kind === 'workflow' && flow.bundle.includes('their own') && !flow.bundle.includes('AxiosError'));
});

test('another version than there is has to be installed', async () => {
  const pinned = (pin: string) =>
    bundleStep({ namespace: 'step', code: `import axios from 'axios@${pin}'; export default axios;` });
  assert.equal((await pinned('^1.7.2')).ok, true);
  assert.equal((await pinned('latest')).ok, true);
  const refused = await pinned('0.27.2');
  assert.ok(!refused.ok);
  assert.equal(refused.problems[0]?.missing, 'axios@0.27.2');
  const told = refused.problems[0]?.text ?? '';
  assert.match(told, /"axios@0\.27\.2" is not available here: axios is there in version 1\.[\d.]+: this server/);
});

test('files of components and of workflows find axios', async (t) => {
  const file = 'import { AxiosError } from "axios"; export default { run: () => AxiosError };';
  const dir = await folder(t, { 'one.mjs': file });
  const component = await bundleStep({ namespace: 'step', dir, path: 'one.mjs' });
  assert.ok(component.ok && component.bundle.includes('AxiosError'), JSON.stringify(component).slice(0, 1000));
  const flow = await bundleFile({ dir, path: 'one.mjs' });
  assert.ok(flow.kind === 'workflow' && flow.bundle.includes('AxiosError'));
});

test('a package of the folder does not find it', async (t) => {
  const dir = await folder(t, {
    'node_modules/tries/index.js': 'try { module.exports = require("axios"); } catch { module.exports = "none"; }',
  });
  const bundled = await bundleStep({ namespace: 'step', code: 'import t from "tries"; export default t;' }, dir);
  assert.ok(bundled.ok && !bundled.bundle.includes('AxiosError'), JSON.stringify(bundled).slice(0, 1000));
});

test('nothing else of Errand’s packages is found, and no place of theirs is told', async () => {
  const code = (name: string): string => `import it from '${name}'; export default it;`;
  for (const name of ['fastify', 'form-data', 'axios-retry', 'axios/none.js', 'axios/../fastify']) {
    assert.equal((await bundleStep({ namespace: 'step', code: code(name) })).ok, false, name);
  }
  const bundled = await bundleStep({ namespace: 'step', code: code('axios') });
  assert.ok(bundled.ok);
  const { sources } = JSON.parse(bundled.sourceMap) as { sources: string[] };
  assert.ok(sources.includes('node_modules/axios/lib/core/Axios.js'));
  assert.ok(
    sources.every((path) => /^(?:node_modules\/|step\.ts$|errand:)/.test(path)),
    sources.join(),
  );
});
