// A reporter that names what was skipped, and why, behind everything else. With ERRAND_TEST_SKIPS the run fails when a test
// was skipped for a reason that the pattern does not match: a machine that lacks a part must not pass for one that has it.

import type { TestEvent } from 'node:test/reporters';

export default async function* skips(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const { ERRAND_TEST_SKIPS: allowed } = process.env;
  const pattern = allowed === undefined ? /(?:)/ : new RegExp(allowed);
  for await (const { type, data } of source) {
    if (type !== 'test:pass' || data.skip === undefined) continue;
    const reason = typeof data.skip === 'string' ? data.skip : 'for no reason given';
    const mayBe = pattern.test(reason);
    if (!mayBe) process.exitCode = 1;
    yield `skipped${mayBe ? '' : ', which fails this run'}: ${data.name}: ${reason}\n`;
  }
}
