// What sources that ask a server now and then have in common.

import { axios, ConfigurationError, DEFAULT_POLLING_SOURCE_TIMER_INTERVAL } from '@pipedream/platform';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 16 * 1024 * 1024;
const KEY = 'answered';

export const timer = {
  type: '$.interface.timer',
  label: 'When',
  description: 'How often to ask: `{"intervalSeconds": 900}` or `{"cron": "*/5 * * * *"}`.',
  default: { intervalSeconds: DEFAULT_POLLING_SOURCE_TIMER_INTERVAL },
};

export const past = {
  type: 'integer',
  label: 'Past items',
  description: 'How many of the newest items that are there at the deployment are emitted.',
  default: 10,
  min: 0,
  max: 50,
};

/** The first poll does not wait for the timer. */
export const hooks = {
  async deploy() {
    await this.poll();
  },
};

/** What is wrong with the props is told at the deployment, too. */
export const checkedHooks = {
  ...hooks,
  activate() {
    this.check();
  },
};

/**
 * What is at `url`: `{bytes, type}`, or null when the server says that nothing has changed since it was asked last.
 * Rejects with what a reader of the error needs: the address without what may be secret in it, and why.
 */
export async function ask(db, url, headers = {}) {
  const shown = shownUrl(url);
  if (URL.canParse(url) && !/^https?:$/.test(new URL(url).protocol))
    throw new ConfigurationError(
      `the address must begin with http:// or https://, and ${JSON.stringify(shown)} does not`,
    );
  const before = db.get(KEY);
  const since = before?.url === url ? before : {};
  const response = await axios(null, {
    url,
    headers: { ...headers, 'If-None-Match': since.etag, 'If-Modified-Since': since.modified },
    responseType: 'arraybuffer',
    returnFullResponse: true,
    validateStatus: null,
    timeout: TIMEOUT_MS,
    maxContentLength: MAX_BYTES,
  }).catch((error) => {
    if (/^maxContentLength/.test(error.message))
      throw new Error(`${shown} answered more than ${MAX_BYTES} bytes, the most that is read`);
    throw Object.assign(new Error(`${shown} cannot be reached: ${error.message || error.code}`), { code: error.code });
  });
  const { status, data, headers: answered } = response;
  if (status === 304) return null;
  if (status < 200 || status > 299) throw new Error(`${shown} answered ${status}: ${textOf(data)}`);
  db.set(KEY, { url, etag: answered.etag, modified: answered['last-modified'] });
  return { bytes: data, type: answered['content-type'] ?? '' };
}

function textOf(data) {
  return data.toString().replace(/\s+/g, ' ').slice(0, 200);
}

/** Keys are often in the query, and passwords before the host. */
export function shownUrl(url) {
  if (!URL.canParse(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
