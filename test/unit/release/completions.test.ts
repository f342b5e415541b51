// What the dashboard's editor completes is what `errand/workflow` declares.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { completionsOf } from '../../../release/completions.ts';

const ROOT = join(import.meta.dirname, '../../..');
const declared = await readFile(join(ROOT, 'src/sdk/workflow.ts'), 'utf8');

test('the generated completions are what the types say', async () => {
  const text = await readFile(join(ROOT, 'dashboard/src/workflows/steps/given.json'), 'utf8');
  assert.equal(text, `${JSON.stringify(completionsOf(declared), null, 2)}\n`, 'run `npm run generate`');
});

test('every member that a step is given is completed', () => {
  const { step, events } = completionsOf(declared);
  // Read in another way: all names that stand at the beginning of a line of these interfaces.
  const names = (type: string): string[] => {
    const body = new RegExp(`export interface ${type}[^{]*\\{\\n(.*?)\\n\\}`, 's').exec(declared)?.[1] ?? '';
    return [...body.matchAll(/^ {2}(?:readonly )?([$\w]+)\??[:(]/gm)].map(([, name = '']) => name);
  };
  const below = (path: string): string[] =>
    Object.keys(step).flatMap((one) =>
      /^[^.]+$/.test(one.slice(path.length)) && one.startsWith(path) ? [one.slice(path.length)] : [],
    );
  assert.deepEqual(below('').sort(), names('Given').sort());
  assert.deepEqual(below('$.').sort(), names('StepApi').sort());
  assert.deepEqual(below('$.flow.').sort(), names('Flow').sort());
  assert.deepEqual(below('steps.trigger.context.').sort(), names('Context').sort());
  for (const type of ['HttpEvent', 'CronEvent', 'IntervalEvent', 'ErrorEvent']) {
    const own = Object.keys(events[type] ?? {}).filter((path) => !path.includes('.'));
    assert.deepEqual(own.sort(), names(type).sort(), type);
  }
  assert.match(step['$.send.emit']?.type ?? '', /^\(event: unknown, channel\?: string\): void$/);
  assert.match(step['$.flow.delay']?.about ?? '', /^Suspends the run, which continues/);
});
