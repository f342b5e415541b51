// A server that takes a connection and answers nothing: a call waits a minute for it, and twice more. Without a word, the command
// would look as if it worked.

import { httpFetch } from './http-fetch.ts';
import type { Output } from './output.ts';

const SLOW_MS = 10_000;

/** Returns a `fetch` that tells once which server has not answered for `slowMs`, and goes on waiting. */
export function tellingSlowAnswers(out: Pick<Output, 'note'>, slowMs = SLOW_MS): typeof fetch {
  let isTold = false;
  return async (input, init) => {
    const timer = setTimeout(() => {
      if (isTold) return;
      isTold = true;
      const { origin } = new URL(typeof input === 'object' && 'url' in input ? input.url : input);
      out.note(`errand: ${origin} has not answered for ${slowMs / 1000} s; waiting`);
    }, slowMs);
    try {
      return await httpFetch(input, init);
    } finally {
      clearTimeout(timer);
    }
  };
}
