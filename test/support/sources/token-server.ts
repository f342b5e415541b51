// A token server (OAuth 2) on loopback that takes each refresh token once, and gives another one with each token.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TokenServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: { readonly form: Record<string, string>; readonly headers: IncomingHttpHeaders }[];
  /** The refresh token that it takes next. */
  refreshToken: string;
  /** Answers so in place of a token. */
  refusal: { readonly status: number; readonly body: string } | null;
  /** Seconds that its tokens live, as it says. */
  expiresIn: unknown;
  /** How long an answer takes. */
  waitMs: number;
}

export async function startTokenServer(): Promise<TokenServer> {
  let given = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()));
      state.asked.push({ form, headers: request.headers });
      setTimeout(() => {
        const { status, body } = state.refusal ?? answerTo(form);
        response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      }, state.waitMs);
    });
  });
  const answerTo = (form: Record<string, string>): { status: number; body: string } => {
    if (form.grant_type === 'refresh_token' && form.refresh_token !== state.refreshToken) {
      const description = `${form.refresh_token} of ${form.client_secret}\nwas used before`;
      return { status: 400, body: JSON.stringify({ error: 'invalid_grant', error_description: description }) };
    }
    given++;
    const rotates = form.grant_type !== 'client_credentials';
    if (rotates) state.refreshToken = `refresh-${given}`;
    const rotated = rotates ? { refresh_token: state.refreshToken } : {};
    const token = { access_token: `token-${given}`, token_type: 'bearer', expires_in: state.expiresIn, ...rotated };
    return { status: 200, body: JSON.stringify(token) };
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const state: TokenServer = {
    url: `http://127.0.0.1:${port}/token?tenant=1`,
    asked: [],
    refreshToken: 'refresh-0',
    refusal: null,
    expiresIn: 3600,
    waitMs: 0,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return state;
}
