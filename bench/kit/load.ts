// The load: POSTs of 1 KB over 64 connections, each sending its next one when the last was answered. With `wrk` when it is
// there, else with autocannon, which takes more of the two cores that the server needs too.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const CONNECTIONS = 64;
export const BODY = JSON.stringify({ order: 12345, pad: 'x'.repeat(1024 - 26) });

export interface Loaded {
  readonly perSecond: number;
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 2xx, and broken connections. */
  readonly failures: number;
}

const run = promisify(execFile);
const AUTOCANNON = join(import.meta.dirname, '../../node_modules/.bin/autocannon');

const SCRIPT = `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = [==[${BODY}]==]
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), e.status + e.connect + e.read + e.write + e.timeout))
end
`;

let script: string | undefined;

export async function generator(): Promise<'wrk' | 'autocannon'> {
  return run('wrk', ['-v']).then(
    () => 'wrk',
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? 'autocannon' : 'wrk'),
  );
}

export async function load(url: string, seconds: number): Promise<Loaded> {
  return (await generator()) === 'wrk' ? withWrk(url, seconds) : withAutocannon(url, seconds);
}

async function withWrk(url: string, seconds: number): Promise<Loaded> {
  if (script === undefined) {
    const dir = mkdtempSync(join(tmpdir(), 'errand-wrk-'));
    process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
    script = join(dir, 'post.lua');
    writeFileSync(script, SCRIPT);
  }
  const options = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', '30s', '-s', script, url];
  const { stdout } = await run('wrk', options);
  const found = /RESULT (\d+) (\d+) (\d+) (\d+) (\d+)/.exec(stdout);
  if (!found) throw new Error(`wrk said nothing of use: ${stdout}`);
  const [requests, durationUs, p50Us, p99Us, failures] = found.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return { perSecond: requests / (durationUs / 1e6), requests, p50Ms: p50Us / 1000, p99Ms: p99Us / 1000, failures };
}

async function withAutocannon(url: string, seconds: number): Promise<Loaded> {
  const headers = ['-H', 'content-type=application/json'];
  const options = [
    '-j',
    '-n',
    '-c',
    String(CONNECTIONS),
    '-d',
    String(seconds),
    '-m',
    'POST',
    '-b',
    BODY,
    ...headers,
    url,
  ];
  const { stdout } = await run(AUTOCANNON, options, { maxBuffer: 1e8 });
  const { requests, latency, errors, non2xx, duration } = JSON.parse(stdout);
  return {
    perSecond: requests.total / duration,
    requests: requests.total,
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    failures: errors + non2xx,
  };
}
