// Remembers what components said of themselves, by their code: a process is started for the first of many sources of one
// component, and not for each change of one.
//
// Only for a while, since a component may say something else at another time: defaults that are dates, for one.

import { createHash } from 'node:crypto';
import type { Deployment } from '../../domain/resource.ts';
import { Recent } from '../pool/recent.ts';
import type { DescribeResult } from '../runner.ts';

const MAX_KEPT = 500;
const KEPT_MS = 60_000;

interface Kept {
  readonly described: Promise<DescribeResult>;
  readonly untilMs: number;
}

export class DescriptionCache {
  readonly #kept = new Recent<Kept>({ max: MAX_KEPT });

  /** What `ask` answers, or has answered for the same code. Failures are asked for again. */
  get(
    { steps }: Deployment,
    env: Readonly<Record<string, string>>,
    ask: () => Promise<DescribeResult>,
  ): Promise<DescribeResult> {
    const [first] = steps;
    const parts = [first?.namespace ?? '', first?.bundle ?? '', first?.sourceMap ?? '', JSON.stringify(env)];
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64');
    const known = this.#kept.get(key);
    if (known && known.untilMs > performance.now()) return known.described;
    const described = ask();
    const kept = { described, untilMs: performance.now() + KEPT_MS };
    this.#kept.set(key, kept);
    void described.then(
      ({ ok }) => ok || this.#forget(key, kept),
      () => this.#forget(key, kept),
    );
    return described;
  }

  #forget(key: string, kept: Kept): void {
    if (this.#kept.get(key) === kept) this.#kept.delete(key);
  }
}
