// The samples for nginx and Caddy, run for real with no more changed than names, ports and certificates.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request as plainRequest } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { type Errand, startErrand } from '../support/errand.ts';
import { freePort } from '../support/port.ts';
import { spawnErrand } from '../support/process.ts';
import { programOf } from '../support/programs.ts';
import { until } from '../support/wait.ts';
import { selfSigned } from '../unit/webhook/certificate.ts';

const ROOT = join(import.meta.dirname, '../..');
const HOST = 'errand.example.com';
/** Answers with what it was called with. */
const ECHO = `export default async ({ steps, $ }) => {
  const { method, path, query, headers, body } = steps.trigger.event;
  await $.respond({ status: 201, headers: { 'x-echo': 'yes' }, body: { method, path, query, host: headers.host, body } });
}`;

interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
}

interface Proxy {
  readonly port: number;
  readonly child: ChildProcess;
  readonly said: () => string;
}

interface Sample {
  readonly file: string;
  /** Asks each server whether it is ready. */
  readonly asksHealth: boolean;
  readonly program: string | undefined;
  /** Writes the configuration into a folder, and returns the program's arguments. */
  write(
    conf: string,
    at: { folder: string; port: number; other: number; servers: readonly string[] },
  ): Promise<string[]>;
}

const SAMPLES: readonly Sample[] = [
  {
    file: 'deploy/nginx/errand.conf',
    asksHealth: false,
    program: programOf('nginx'),
    write: async (conf, { folder, port, other, servers }) => {
      const changed = replaceAll(conf, [
        ['listen 443 ', `listen 127.0.0.1:${port} `],
        ['listen 80;', `listen 127.0.0.1:${other};`],
        ['server 127.0.0.1:4400;', servers.map((server) => `server ${server};`).join('\n')],
        ['/etc/ssl/errand.example.com.pem', join(folder, 'cert.pem')],
        ['/etc/ssl/errand.example.com.key', join(folder, 'key.pem')],
      ]);
      await writeFile(join(folder, 'errand.conf'), changed);
      const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${join(folder, name)};`,
      );
      const main = `daemon off; master_process off; pid ${join(folder, 'pid')}; error_log stderr;
        events {} http { access_log off; ${temps.join(' ')} include ${join(folder, 'errand.conf')}; }`;
      await writeFile(join(folder, 'nginx.conf'), main);
      return ['-c', join(folder, 'nginx.conf'), '-p', folder, '-e', 'stderr'];
    },
  },
  {
    file: 'deploy/caddy/Caddyfile',
    asksHealth: true,
    program: programOf('caddy'),
    write: async (conf, { folder, port, servers }) => {
      const changed = replaceAll(conf, [
        [`${HOST} {`, `https://${HOST}:${port} {\n\tbind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem`],
        ['reverse_proxy 127.0.0.1:4400', `reverse_proxy ${servers.join(' ')}`],
      ]);
      await writeFile(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${changed}`);
      return ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
    },
  },
];

function replaceAll(conf: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((changed, [from, to]) => {
    assert.ok(changed.includes(from), `the sample has no ${from}`);
    return changed.replace(from, () => to);
  }, conf);
}

for (const sample of SAMPLES) {
  describe(sample.file, { skip: sample.program === undefined && `${sample.file} needs its program` }, () => {
    let errand: Errand;
    let folder: string;
    let proxy: Proxy;
    let cert: string;
    let secondPort: number;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'errand-proxy-'));
      const port = await freePort();
      errand = await startErrand({ ERRAND_PUBLIC_URL: `https://${HOST}:${port}` });
      const certificate = selfSigned(`DNS:${HOST}`);
      cert = certificate.cert;
      await writeFile(join(folder, 'cert.pem'), cert);
      await writeFile(join(folder, 'key.pem'), certificate.key);
      // The second server is down: nothing listens there.
      secondPort = await freePort();
      const servers = [new URL(errand.url).host, `127.0.0.1:${secondPort}`];
      const conf = await readFile(join(ROOT, sample.file), 'utf8');
      const args = await sample.write(conf, { folder, port, other: await freePort(), servers });
      proxy = start(sample.program as string, args, folder, port);
      await until('the proxy passes requests on', async () => {
        if (proxy.child.exitCode !== null) throw new Error(proxy.said());
        return (await call('GET', '/readyz').catch(() => null))?.status === 200;
      });
    });
    after(async () => {
      proxy.child.kill('SIGKILL');
      await once(proxy.child, 'exit').catch(() => undefined);
      await errand[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });

    const call = (method: string, path: string, body?: Buffer, headers: Record<string, string> = {}): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const options = {
          ...to(path),
          method,
          headers: { 'content-type': 'application/json', ...HOST_HEADER(), ...headers },
        };
        const sent = request(options, async (response) => {
          const body = await text(response).catch(reject);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: body ?? '' });
        });
        sent.on('error', reject).end(body);
      });
    /** Without the proxy: `fetch` would write another host and path. */
    const directly = async (path: string, body: Buffer, headers: Record<string, string>): Promise<string> => {
      const { hostname, port } = new URL(errand.url);
      const options = { hostname, port, path, method: 'POST', setHost: false };
      const sent = plainRequest({ ...options, headers: { 'content-type': 'application/json', ...headers } });
      sent.end(body);
      const [response] = await once(sent, 'response');
      return text(response);
    };
    const to = (path: string) => ({
      host: '127.0.0.1',
      port: proxy.port,
      path,
      servername: HOST,
      ca: cert,
      setHost: false,
      headers: {},
      agent: false as const,
    });
    const HOST_HEADER = (): Record<string, string> => ({ host: `${HOST}:${proxy.port}` });

    test('an event comes through as it was sent, and the answer of the workflow as it was given', async () => {
      const workflow = await errand.workflow(ECHO, { triggers: [{ type: 'http', custom_response: true }] });
      const { pathname, host } = new URL(workflow.triggers[0].endpoint_url);
      assert.equal(host, `${HOST}:${proxy.port}`);
      for (const more of ['', '/a%2Fb//c/../d', '?x=%20+&y=%C3%A9&x=2']) {
        const body = Buffer.from('{"n": 12345678901234567890, "text": "é"}');
        const answer = await call('POST', pathname + more, body);
        assert.equal(answer.status, 201, answer.text);
        assert.equal(answer.headers['x-echo'], 'yes');
        const direct = await directly(pathname + more, body, HOST_HEADER());
        assert.deepEqual(JSON.parse(answer.text), JSON.parse(direct));
      }
    });

    test('an event says whose request the proxy passed on, whatever its sender says', async () => {
      const code =
        "export default async ({ steps, $ }) => $.respond({ body: steps.trigger.event.headers['x-forwarded-for'] })";
      const workflow = await errand.workflow(code, { triggers: [{ type: 'http', custom_response: true }] });
      const { pathname } = new URL(workflow.triggers[0].endpoint_url);
      const answer = await call('POST', pathname, Buffer.from('{}'), { 'x-forwarded-for': '192.0.2.1' });
      assert.equal(answer.text, '127.0.0.1');
    });

    test('no request fails while one of the servers is down', async () => {
      const workflow = await errand.workflow('export default () => 1');
      const { pathname } = new URL(workflow.triggers[0].endpoint_url);
      for (let i = 0; i < 40; i++) {
        assert.equal((await call('POST', pathname, Buffer.from('{}'))).status, 200);
      }
      // None was sent twice either.
      await errand.settled();
      const events = await errand.client.get(`/v1/workflows/${workflow.id}/runs?limit=100`);
      assert.equal(events.data.length, 40);
    });

    test('a server that has died fails one request at most', async () => {
      let answered = 0;
      const second = createServer((_request, answer) => {
        answered++;
        answer.writeHead(200).end();
      });
      await once(second.listen(secondPort, '127.0.0.1'), 'listening');
      await until('the second server is asked, too', async () => {
        await call('GET', '/readyz');
        return answered > 1;
      });
      const closed = once(second, 'close');
      second.close();
      second.closeAllConnections();
      await closed;
      const workflow = await errand.workflow('export default () => 1');
      const { pathname } = new URL(workflow.triggers[0].endpoint_url);
      let failed = 0;
      for (let i = 0; i < 20; i++) if ((await call('POST', pathname, Buffer.from('{}'))).status !== 200) failed++;
      assert.ok(failed <= 1, `${failed} requests have failed`);
      await errand.settled();
      const { data } = await errand.client.get(`/v1/workflows/${workflow.id}/runs?limit=100`);
      assert.equal(data.length, 20 - failed);
    });

    if (sample.asksHealth) {
      test('a server that stops with the delay of the sample fails no request', async () => {
        const [delay] = /ERRAND_STOP_DELAY_SECONDS=\d+/.exec(await readFile(join(ROOT, sample.file), 'utf8')) ?? [];
        const [name = '', seconds = ''] = delay?.split('=') ?? [];
        const env = { ERRAND_PORT: String(secondPort), ERRAND_DATA_DIR: join(folder, 'second'), [name]: seconds };
        await using second = await spawnErrand(env);
        // Its description of the interface names its own address.
        await until('the second server is asked, too', async () =>
          (await call('GET', '/v1/openapi.json')).text.includes(second.url),
        );
        second.child.kill('SIGTERM');
        while (second.child.exitCode === null) assert.equal((await call('GET', '/docs')).status, 200);
        assert.equal(second.child.exitCode, 0);
        for (let i = 0; i < 10; i++) assert.equal((await call('GET', '/docs')).status, 200);
      });
    }

    test('a body that is too large is refused by the server, with its limit', async () => {
      const workflow = await errand.workflow('export default () => 1');
      const { pathname } = new URL(workflow.triggers[0].endpoint_url);
      const answer = await call('POST', pathname, Buffer.from(JSON.stringify('x'.repeat(600_000))));
      assert.equal(answer.status, 413);
      assert.match(answer.text, /524288/);
    });

    test('a stream brings an error at once', async () => {
      const workflow = await errand.workflow('export default () => { throw new Error("no") }');
      const headers = { ...HOST_HEADER(), authorization: `Bearer ${errand.client.key}` };
      const heard: string[] = [];
      const stream = request({ ...to('/v1/errors/stream'), headers }, (response) => {
        response.on('data', (part: Buffer) => heard.push(part.toString()));
        response.on('error', () => undefined);
        heard.push(`${response.statusCode}\n`);
      });
      stream.on('error', () => undefined).end();
      await until('the stream is open', () => heard.length > 0);
      const { pathname } = new URL(workflow.triggers[0].endpoint_url);
      assert.equal((await call('POST', pathname, Buffer.from('{}'))).status, 200);
      await until('the error has come', () => heard.join('').includes(workflow.id));
      assert.match(heard.join(''), /^200\n/);
      stream.destroy();
      const metrics = { headers: { authorization: `Bearer ${errand.client.key}` } };
      await until('the server knows that its reader is gone', async () =>
        /^errand_streams_open 0$/m.test(await (await fetch(`${errand.url}/metrics`, metrics)).text()),
      );
    });
  });
}

function start(program: string, args: readonly string[], folder: string, port: number): Proxy {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (part) => {
    said += part;
  });
  return { port, child, said: () => said };
}
