// A reporter that says at once what failed and why, since the other one does so behind everything else: a run that is cut off
// would have said nothing. With ERRAND_TEST_FAILURES it is appended to that file, too, so that a run of several parts can end
// with it; and the part and the file of each to a second one (test/again.ts).

import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/** Of a failure's error: what else stands in it is in the other report. */
const MOST_LETTERS = 4000;

/** What `test/run.ts` writes. */
const IS_GROUP = /\/errand-groups-[^/]+\/group-\d+\.test\.mjs$/;

export default async function* failures(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const { ERRAND_TEST_FAILURES: path, ERRAND_TEST_PART: part } = process.env;
  for await (const { type, data } of source) {
    if (type !== 'test:fail' || data.todo !== undefined) continue;
    const { error } = data.details;
    // What only holds a failed test says nothing of its own.
    if ((error as { failureType?: string }).failureType === 'subtestsFailed') continue;
    const file = data.file === undefined ? undefined : relative(process.cwd(), data.file);
    const at = file === undefined ? '' : `${file}:${data.line ?? 1} `;
    const took = `${Math.round(data.details.duration_ms)} ms`;
    const why = inspect(error.cause ?? error, { depth: 4 }).slice(0, MOST_LETTERS);
    const said = `failed: ${at}${data.name} (${took})\n${why.replace(/^/gm, '  ')}\n`;
    if (path !== undefined) {
      appendFileSync(path, said);
      const { entryFile = data.file } = data as { entryFile?: string };
      // A group only imports the files that share its process.
      const ran = entryFile !== undefined && IS_GROUP.test(entryFile) ? data.file : entryFile;
      appendFileSync(`${path}.files`, `${part ?? '?'} ${ran === undefined ? '?' : relative(process.cwd(), ran)}\n`);
    }
    yield said;
  }
}
