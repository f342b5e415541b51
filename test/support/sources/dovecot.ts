// Debian's Dovecot on loopback, with users that are made as they log in, and their mail in a temp folder.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { selfSigned } from '../../unit/webhook/certificate.ts';
import { freePort } from '../port.ts';
import { programOf } from '../programs.ts';
import { until } from '../wait.ts';

const DOVECOT = programOf('dovecot');
/** As root, mail belongs to nobody: Dovecot refuses to handle root's. */
const NOBODY = 65_534;

export const noDovecot = DOVECOT === undefined && 'Dovecot is not installed';
export const PASSWORD = 'the_password_of_all';

export interface Dovecot extends AsyncDisposable {
  readonly host: string;
  /** Where TLS comes by STARTTLS, or not at all. */
  readonly port: number;
  readonly tlsPort: number;
  /** Of its certificate, which it has signed itself. */
  readonly ca: string;
  /** Works in a mailbox as its user. */
  as<T>(user: string, work: (client: ImapFlow) => Promise<T>): Promise<T>;
  deliver(user: string, message: string | Buffer, mailbox?: string): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startDovecot(): Promise<Dovecot> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-dovecot-'));
  const [port, tlsPort] = [await freePort(), await freePort()];
  const isRoot = userInfo().uid === 0;
  await chmod(dir, 0o755);
  await mkdir(join(dir, 'mail'));
  if (isRoot) await chown(join(dir, 'mail'), NOBODY, NOBODY);
  const { cert, key } = selfSigned('IP:127.0.0.1');
  await writeFile(join(dir, 'cert.pem'), cert);
  await writeFile(join(dir, 'key.pem'), key, { mode: 0o600 });
  await writeFile(join(dir, 'dovecot.conf'), configOf({ dir, port, tlsPort, isRoot }));
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const started = spawn(DOVECOT as string, ['-F', '-c', join(dir, 'dovecot.conf')], { stdio: 'ignore' });
    let failure: string | undefined;
    started.on('error', ({ message }) => (failure = message));
    started.on('exit', (code) => (failure = `it exited with ${code}`));
    child = started;
    const isReady = () => open('ready').then(logOut, () => false);
    await until('Dovecot takes connections', async () => failure !== undefined || (await isReady()));
    if (failure === undefined) return;
    throw new Error(`${failure}: ${await readFile(join(dir, 'log'), 'utf8').catch(() => '')}`);
  }

  async function stop(): Promise<void> {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null) return;
    const gone = once(running, 'exit');
    running.kill('SIGTERM');
    await gone;
  }

  async function open(user: string): Promise<ImapFlow> {
    const auth = { user, pass: PASSWORD };
    const client = new ImapFlow({ host: '127.0.0.1', port, secure: false, doSTARTTLS: false, auth, logger: false });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async function as<T>(user: string, work: (client: ImapFlow) => Promise<T>): Promise<T> {
    const client = await open(user);
    try {
      return await work(client);
    } finally {
      await client.logout();
    }
  }

  await start();
  return {
    ...{ host: '127.0.0.1', port, tlsPort, ca: cert, as, start, stop },
    deliver: (user, message, mailbox = 'INBOX') =>
      as(user, async (client) => void (await client.append(mailbox, Buffer.from(message)))),
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function logOut(client: ImapFlow): Promise<boolean> {
  await client.logout();
  return true;
}

function configOf({ dir, port, tlsPort, isRoot }: { dir: string; port: number; tlsPort: number; isRoot: boolean }) {
  const { uid, gid, username } = userInfo();
  const [mailUid, mailGid] = isRoot ? [NOBODY, NOBODY] : [uid, gid];
  // Started by somebody else, it can neither change its user nor its root.
  const group = execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim();
  const own = `default_internal_user = ${username}\ndefault_login_user = ${username}\ndefault_internal_group = ${group}
service anvil {\n  chroot =\n}\nservice stats {\n  chroot =\n}`;
  return `
base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <${dir}/cert.pem
ssl_key = <${dir}/key.pem
disable_plaintext_auth = no
auth_mechanisms = plain login
mail_location = maildir:${dir}/mail/%u
first_valid_uid = 1
first_valid_gid = 1
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${mailUid} gid=${mailGid} home=${dir}/mail/%u
}
service imap-login {
  ${isRoot ? '' : 'chroot ='}
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
    ssl = yes
  }
}
${isRoot ? '' : own}
`;
}
