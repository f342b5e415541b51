// The cookies of a workflow's answer are for its own endpoint: a browser keeps them, and sends them with requests, by host
// and path, and all endpoints of all owners may share a host with the dashboard. With `Path=/` one workflow could replace
// the dashboard's session by one of its own, read and set cookies of others, or set so many that the server refuses each
// request as too long.

import type { Place } from './place.ts';

/**
 * Returns the path that belongs to an endpoint, as the browser sees it; the empty text: the endpoint has a host to itself.
 * `url`: of the request.
 */
export function cookiePathOf(url: string, { baseUrl, pathStart }: Place): string {
  return pathStart === 0 ? '' : new URL(baseUrl).pathname.replace(/\/$/, '') + url.slice(0, pathStart);
}

/**
 * Returns a `Set-Cookie` header that is for the endpoint alone: without `Domain`, and with the endpoint's path before its
 * own. `endpointPath`: from `cookiePathOf`.
 */
export function boundToEndpoint(setCookie: string, endpointPath: string): string {
  const [pair = '', ...attributes] = setCookie.split(';').map((part) => part.trim());
  const paths = attributes.filter((attribute) => nameOf(attribute) === 'path');
  const others = attributes.filter((attribute) => !['path', 'domain'].includes(nameOf(attribute)));
  // Of several, browsers take the last one.
  const path = pathIn(paths.at(-1) ?? '', endpointPath);
  return [pair, ...others, ...(path === '' ? [] : [`Path=${path}`])].join('; ');
}

function nameOf(attribute: string): string {
  return (attribute.split('=', 1)[0] ?? '').trim().toLowerCase();
}

function pathIn(attribute: string, endpointPath: string): string {
  const given = attribute.slice(attribute.indexOf('=') + 1).trim();
  if (!given.startsWith('/')) return endpointPath;
  if (`${given}/`.startsWith(`${endpointPath}/`)) return given;
  return given === '/' ? endpointPath : endpointPath + given;
}
