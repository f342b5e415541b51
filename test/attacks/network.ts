import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { signal } from '../unit/runner/kit.ts';
import type { Attack } from './attack.ts';

const OWN = 'in a jail; with `ERRAND_JAIL_NETWORK=full` it is possible';
const ANY = 'in a jail; with `ERRAND_JAIL_NETWORK=public` it connects to public addresses, with `full` to all';

export const NETWORK: readonly Attack[] = [
  {
    name: 'connects to any address, also on this machine and in private networks',
    process: 'possible',
    jail: 'stopped',
    by: ANY,
    attempt: `return await new Promise((resolve) => net.connect(w.port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false)))`,
  },
  {
    name: 'connects to what is not public in spellings of its own, and by names',
    process: 'possible',
    jail: 'stopped',
    by: OWN,
    attempt: `const tried = (host) => new Promise((resolve) => net.connect(w.port, host, () => resolve(true)).on('error', () => resolve(false)));
      for (const host of ['::ffff:127.0.0.1', '::ffff:7f00:1', '0.0.0.0', '0x7f.1', '2130706433', 'localhost', 'ip6-localhost', os.hostname()]) {
        if (await tried(host)) return true;
      }`,
  },
  {
    name: 'asks the egress tunnel for what is not public, or in words that are none',
    process: 'stopped',
    jail: 'stopped',
    by: 'each target is judged as that of a webhook, and what is asked is parsed by Node',
    unhindered: false,
    attempt: `const ask = (text) => new Promise((resolve) => {
        let said = '';
        const socket = net.connect(fs.existsSync('/errand') ? '/errand/egress.sock' : '../egress.sock', () => socket.write(text));
        socket.on('data', (chunk) => { said += chunk; if (said.includes('\\r\\n\\r\\n')) socket.destroy() });
        socket.on('error', () => {}).on('close', () => resolve(said));
      });
      const hosts = ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '0.0.0.0', '0x7f.1', '2130706433', '127.1', 'localhost', 'localhost.', os.hostname()];
      const lines = hosts.map((host) => 'CONNECT ' + host + ':' + w.port + ' HTTP/1.1');
      lines.push('CONNECT 10.0.0.1:80@127.0.0.1:' + w.port + ' HTTP/1.1', 'CONNECT ' + w.socket + ' HTTP/1.1', 'GET http://127.0.0.1:' + w.port + '/healthz HTTP/1.1',
        'GET / HTTP/1.1', 'CONNECT 127.0.0.1:' + (65536 + w.port) + ' HTTP/1.1', 'CONNECT x HTTP/9.9', 'x'.repeat(100000));
      for (const line of lines) if (/^HTTP\\/1.1 2/.test(await ask(line + '\\r\\nHost: x\\r\\n\\r\\n'))) return true;`,
  },
  {
    name: 'sends datagrams, and asks a name server of its own choice',
    process: 'possible',
    jail: 'stopped',
    by: OWN,
    attempt: `const socket = node('dgram').createSocket('udp4');
      return await new Promise((resolve) => {
        socket.on('message', () => resolve(true)).on('error', () => resolve(false));
        setTimeout(() => resolve(false), 300);
        socket.send('x', w.datagramPort, '127.0.0.1');
      })`,
  },
  {
    name: "asks the server's interface without a key",
    process: 'stopped',
    jail: 'stopped',
    by: 'the server, which answers 401 (it does answer `/healthz`, `/readyz` and `/docs`)',
    unhindered: false,
    attempt: `const { status } = await fetch('http://127.0.0.1:' + w.port + '/v1/workflows', { headers: { connection: 'close' } });
      return status === 200`,
  },
  {
    name: 'connects to a Unix socket that the user it runs as may use',
    process: 'possible',
    jail: 'stopped',
    by: 'in a jail it is not there; where the server is root, that user is another',
    attempt: `return await new Promise((resolve) => net.connect(w.socket, () => resolve(true)).on('error', () => resolve(false)))`,
  },
  {
    name: 'connects to an abstract Unix socket, which has no file, and so no permissions',
    process: 'possible',
    jail: 'stopped',
    by: OWN,
    attempt: `return await new Promise((resolve) => net.connect(w.abstractSocket, () => resolve(true)).on('error', () => resolve(false)))`,
  },
  {
    name: 'makes a Unix socket where the user it runs as may make files',
    process: 'possible',
    jail: 'stopped',
    by: 'in a jail all but /tmp is read-only; where the server is root, that user is another',
    attempt: `const server = net.createServer();
      return await new Promise((resolve) => server.listen(w.openDir + '/made.sock', () => server.close(() => resolve(true)))
        .on('error', () => resolve(false)))`,
  },
  {
    name: 'listens on a port that others can connect to',
    process: 'possible',
    jail: 'stopped',
    by: OWN,
    attempt: async ({ run }) => {
      const { came, onAnswer } = signal();
      const ended = run(
        `import net from 'node:net';
        export default async ({ $ }) => {
          const server = net.createServer((socket) => socket.end('of this code')).listen(0, '127.0.0.1');
          await new Promise((resolve) => server.once('listening', resolve));
          await $.respond({ immediate: true, body: String(server.address().port) });
          await new Promise((resolve) => setTimeout(resolve, 3000));
        }`,
        { onAnswer, timeoutMs: 120_000 },
      );
      const failed = ended.then((outcome) => assert.fail(`no answer: ${JSON.stringify(outcome)}`));
      const answer = await Promise.race([came, failed]);
      const port = Number(Buffer.from(answer.body).toString());
      // In a network of its own, the code may get the number of a port that another program has in this one.
      const greeting = await new Promise<string>((resolve) => {
        let text = '';
        const socket = connect(port, '127.0.0.1').setTimeout(2000, () => socket.destroy());
        socket.on('data', (chunk) => {
          text += chunk;
        });
        socket.on('error', () => {}).on('close', () => resolve(text));
      });
      await ended;
      return greeting === 'of this code';
    },
  },
];
