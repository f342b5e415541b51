// The cookie of a session. Its name has the port: browsers send the cookies of a host to all of its ports, and two servers on
// one machine would sign each other out. Over https the prefix `__Host-` keeps other hosts of the domain from setting it.

import type { IncomingMessage } from 'node:http';

const NAME = 'errand-session';
const SECURE_NAME = `__Host-${NAME}`;
/** The cookies of all servers on this host: a browser sends each of them those of the others, too. */
const OURS = new RegExp(`^(?:${SECURE_NAME}|${NAME}-\\d+)$`);
/** Hosts of this machine: browsers reach them without https. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i;

/** Returns the value of the request's session cookie; null when there is none, or more than one. */
export function sessionCookieOf(req: IncomingMessage, publicUrl: string): string | null {
  const { cookie } = req.headers;
  if (cookie === undefined) return null;
  const { name } = placeOf(req, publicUrl);
  const values = cookie.split(';').flatMap((pair) => {
    const [given = '', ...value] = pair.trim().split('=');
    return given === name ? [value.join('=')] : [];
  });
  // Another site of the same domain may have planted the second one.
  return values.length === 1 ? (values[0] as string) : null;
}

/** Returns the `Set-Cookie` header; an empty value removes the cookie. */
export function sessionCookie(
  req: IncomingMessage,
  publicUrl: string,
  given: { value: string; maxAgeS: number },
): string {
  const { name, isSecure } = placeOf(req, publicUrl);
  const parts = [`${name}=${given.value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${given.maxAgeS}`];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}

/**
 * Returns a `Cookie` header without sessions, which open the API to all who read them: an endpoint is on the dashboard's
 * host, so the browser of a signed-in user sends the session there, too. Undefined: nothing else is in it.
 */
export function withoutSessions(cookie: string): string | undefined {
  if (!cookie.includes(NAME)) return cookie;
  const others = cookie.split(';').filter((pair) => !OURS.test(nameOf(pair)));
  return others.length === 0 ? undefined : others.join(';').trimStart();
}

function nameOf(pair: string): string {
  return pair.split('=', 1)[0]?.trim() ?? '';
}

export function isLoopbackHost(host: string | undefined): boolean {
  return LOOPBACK.test((host ?? '').replace(/:\d+$/, ''));
}

/**
 * Returns the name of the session's cookie, and whether it is sent over TLS alone. A public https address means a proxy that
 * ends TLS; what reaches the server past it, on this machine, has no TLS.
 */
function placeOf({ headers, socket }: IncomingMessage, publicUrl: string): { name: string; isSecure: boolean } {
  const isSecure = publicUrl.startsWith('https:') && !isLoopbackHost(headers.host);
  if (isSecure) return { name: SECURE_NAME, isSecure };
  const port = /:(\d+)$/.exec(headers.host ?? '')?.[1] ?? String(socket.localPort ?? '');
  return { name: `${NAME}-${port}`, isSecure };
}
