// The line for a crontab that docs/watches.md gives, as cron runs it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { shareErrand } from '../support/shared-errand.ts';
import { readDocument } from './reader.ts';

const newErrand = shareErrand();
const LINE = /^0 3 \* \* \* +(?<command>.*)$/m;

test('the crontab reports how a job with much output ended', async () => {
  await using errand = await newErrand();
  const folder = await mkdtemp(join(tmpdir(), 'errand-crontab-'));
  try {
    const { id, ping_url } = await errand.client.post('/v1/heartbeats', { name: 'Backup', interval_seconds: 86_400 });
    const command = LINE.exec(await readDocument('docs/watches.md'))?.groups?.command ?? '';
    assert.doesNotMatch(command, /%/, 'cron takes it for a line break');
    const job = join(folder, 'backup');
    // More than one argument of a program may have (128 KiB), and than a ping (512 KiB).
    const code = `#!/bin/sh\nhead -c 600000 /dev/zero | tr '\\0' x\necho 'no space left'\nexit 3\n`;
    await writeFile(job, code, { mode: 0o700 });
    const line = command.replace('/usr/local/bin/backup', job).replace('https://errand.example.com/h/KEY', ping_url);
    await promisify(execFile)('/bin/sh', ['-c', line], { cwd: folder });
    const { data } = await errand.client.get(`/v1/heartbeats/${id}/$errors/event_summaries?expand=event`);
    assert.match(data[0].event.error.msg, /exit code 3/);
    assert.match(data[0].event.original_event.log, /no space left/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
