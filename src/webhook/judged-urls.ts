// Judgements of webhooks' URLs, each made at most once a second: parsing and judging a URL took a twentieth of a delivery's time. Each
// connection judges its address again when it opens.

import { SECOND_MS } from '../domain/limits.ts';
import type { Addresses, UrlJudgement } from './address.ts';

const GOOD_FOR_MS = SECOND_MS;
/** Distinct URLs of a second; more are judged again. */
const KEPT = 1000;

/** Returns a function that judges a URL at most once a second. `now`: milliseconds of a clock that never jumps. */
export function judgedOnceASecond(
  addresses: Addresses,
  now: () => number = () => performance.now(),
): (url: string) => UrlJudgement {
  const kept = new Map<string, UrlJudgement>();
  let since = Number.NEGATIVE_INFINITY;

  return (url) => {
    const at = now();
    if (at - since >= GOOD_FOR_MS || kept.size >= KEPT) {
      kept.clear();
      since = at;
    }
    const known = kept.get(url);
    if (known) return known;
    const judged = addresses.judgeUrl(url);
    kept.set(url, judged);
    return judged;
  };
}
