// A sign-in at another service in the browser of who calls (OAuth 2, authorization code with PKCE): the service sends the browser
// back to a port of this machine (RFC 8252), so that no server of ours needs an address of its own for it.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClientAuth } from '../../domain/data.ts';
import { MINUTE_MS, SECOND_MS } from '../../domain/limits.ts';
import { createServer } from '../../node-http.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { oneLine } from '../shell/text.ts';

export interface SignIn {
  readonly authorizeUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly clientAuth: ClientAuth;
  readonly scope: string | null;
  /** Further parameters of the address that is opened, such as `access_type=offline`. */
  readonly more: readonly (readonly [name: string, value: string])[];
  /** 0: any free one. Some services know only addresses with the port that was registered. */
  readonly port: number;
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | null;
}

const WAIT_MS = 10 * MINUTE_MS;
const TOKEN_TIMEOUT_MS = 30 * SECOND_MS;
const PATH = '/callback';
const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  connection: 'close',
};

/** Waits for the sign-in, and gets the tokens. `open`: is given the address for the browser. Rejects with `CliError`. */
export async function signIn(asked: SignIn, open: (url: string) => void): Promise<Tokens> {
  const [state, verifier] = [randomBytes(24).toString('base64url'), randomBytes(32).toString('base64url')];
  let settle: (outcome: { code: string } | CliError) => void = () => {};
  const returned = new Promise<{ code: string } | CliError>((resolve) => {
    settle = resolve;
  });
  const server = createServer((req, res) => {
    const outcome = answered(req, res, state);
    if (outcome !== null) settle(outcome);
  });
  await listening(server, asked.port);
  const interrupted = (): void => settle(new CliError('interrupted: no account was made', EXIT.interrupted));
  process.once('SIGINT', interrupted);
  const timer = setTimeout(() => settle(new CliError('no sign-in came within ten minutes')), WAIT_MS);
  try {
    const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
    open(addressOf(asked, { redirectUri, state, verifier }));
    const outcome = await returned;
    if (outcome instanceof CliError) throw outcome;
    return await exchange(asked, { code: outcome.code, redirectUri, verifier });
  } finally {
    clearTimeout(timer);
    process.off('SIGINT', interrupted);
    server.close();
    server.closeIdleConnections();
  }
}

function listening(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', ({ message }) => reject(new CliError(`cannot wait for the sign-in: ${message}`)));
    server.listen(port, '127.0.0.1', resolve);
  });
}

interface Flow {
  readonly redirectUri: string;
  readonly state: string;
  readonly verifier: string;
}

function addressOf({ authorizeUrl, clientId, scope, more }: SignIn, { redirectUri, state, verifier }: Flow): string {
  const url = new URL(authorizeUrl);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const parameters = {
    ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, state },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    ...(scope === null ? {} : { scope }),
    ...Object.fromEntries(more),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Answers the browser; returns null for what is not the service's answer to this sign-in. */
function answered(req: IncomingMessage, res: ServerResponse, state: string): { code: string } | CliError | null {
  const url = new URL(req.url ?? '', 'http://127.0.0.1');
  const say = (status: number, text: string): null => {
    res.writeHead(status, HEADERS).end(`${text}\n`);
    return null;
  };
  if (url.pathname !== PATH || req.method !== 'GET') return say(404, 'Nothing is here.');
  const parameters = url.searchParams;
  if (!isSame(parameters.get('state') ?? '', state))
    return say(400, 'This is not the answer to the sign-in that was begun.');
  const code = parameters.get('code');
  if (code !== null && code !== '') {
    say(200, 'Done. You can close this window, and go back to the terminal.');
    return { code };
  }
  const said = [parameters.get('error'), parameters.get('error_description')].filter(Boolean).join(': ');
  say(200, 'There was no access. The terminal says why.');
  return new CliError(`the service gave no access: ${oneLine(said || 'it did not say why').slice(0, 500)}`);
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

async function exchange(
  { tokenUrl, clientId, clientSecret, clientAuth }: SignIn,
  { code, redirectUri, verifier }: Omit<Flow, 'state'> & { code: string },
): Promise<Tokens> {
  const form = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri });
  form.set('code_verifier', verifier);
  const headers: Record<string, string> = { accept: 'application/json' };
  if (clientAuth === 'basic') {
    const [id = '', secret = ''] = [clientId, clientSecret ?? ''].map((x) =>
      new URLSearchParams({ x }).toString().slice(2),
    );
    headers.authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  } else {
    form.set('client_id', clientId);
    if (clientSecret !== null) form.set('client_secret', clientSecret);
  }
  const signal = AbortSignal.timeout(TOKEN_TIMEOUT_MS);
  const response = await fetch(tokenUrl, { method: 'POST', headers, body: form, redirect: 'error', signal }).catch(
    (error: Error) => {
      const why = error.cause instanceof Error ? error.cause.message : error.message;
      throw new CliError(`the token server cannot be reached: ${why}`, EXIT.unreachable);
    },
  );
  const body = await response.text().catch(() => '');
  const { access_token: accessToken, refresh_token: refreshToken, error, error_description: about } = membersOf(body);
  if (!response.ok || typeof accessToken !== 'string' || accessToken === '') {
    const said = [error, about].filter((part) => typeof part === 'string').join(': ');
    const why = said === '' ? 'no access_token' : oneLine(said).slice(0, 500);
    throw new CliError(`the token server answered ${response.status} with ${why}`);
  }
  return { accessToken, refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : null };
}

function membersOf(body: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}
