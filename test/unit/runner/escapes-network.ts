import { connect } from 'node:net';
import type { Escape } from './escapes.ts';
import { signal } from './kit.ts';

const OWN = 'in a jail without a network; with `ERRAND_JAIL_NETWORK=full` it is possible';

export const NETWORK: readonly Escape[] = [
  {
    name: 'connects to any address, also on this machine and in private networks',
    process: 'possible',
    jail: 'stopped',
    by: OWN,
    attempt: `return await new Promise((resolve) => net.connect(w.port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false)))`,
  },
  {
    name: "asks the server's interface without a key",
    process: 'stopped',
    jail: 'stopped',
    by: 'the server, which answers 401 (it does answer `/healthz`, `/readyz`, `/metrics` and `/docs`)',
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
          const server = net.createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
          await new Promise((resolve) => server.once('listening', resolve));
          await $.respond({ immediate: true, body: String(server.address().port) });
          await new Promise(() => {});
        }`,
        { onAnswer, timeoutMs: 3000 },
      );
      const port = Number(Buffer.from((await came).body).toString());
      const isReached = await new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
        socket.on('close', () => {});
      });
      await ended;
      return isReached;
    },
  },
];
