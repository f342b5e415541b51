// The rows that have goals, in pieces of at most ten minutes each: `npm run bench:rows -- [--to folder] [--only piece,piece]`. A piece that
// was measured into the folder is not measured again, so that the whole can be stopped and started; `--list` only lists the pieces.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Figure } from './kit/figures.ts';

interface Piece {
  readonly name: string;
  /** On a quiet machine of two cores; a guess, which the run corrects by printing what it took. */
  readonly minutes: number;
  readonly args: string;
}

const ROUNDS = '--rounds 3 --seconds 5';

const PIECES: readonly Piece[] = [
  { name: 'footprint', minutes: 1, args: '--only footprint' },
  { name: 'throughput', minutes: 6, args: `--only throughput ${ROUNDS}` },
  { name: 'node-red', minutes: 5, args: `--only node-red ${ROUNDS}` },
  { name: 'slow-disk', minutes: 3, args: `--only slow-disk ${ROUNDS}` },
  { name: 'deliveries', minutes: 8, args: '--only deliveries --rounds 3 --deliveries 10000' },
  { name: 'postgres', minutes: 8, args: '--only postgres --rounds 3 --seconds 4 --jobs 5000' },
  ...[1, 2, 3].map((round) => ({
    name: `storm-${round}`,
    minutes: 4,
    args: '--only storm --errors 20000 --seconds 10',
  })),
  { name: 'error-times', minutes: 2, args: '--only error-times --seconds 5' },
  { name: 'latency', minutes: 4, args: `--only listed,delivered,many ${ROUNDS}` },
  { name: 'fairness', minutes: 6, args: '--only fairness' },
  { name: 'growth-sqlite', minutes: 6, args: '--only growth --cases SQLite' },
  { name: 'growth-postgres', minutes: 8, args: '--only growth --cases Postgres' },
];

const MOST_MINUTES = 10;

const { values: options } = parseArgs({
  options: {
    to: { type: 'string', default: join(import.meta.dirname, '../node_modules/.cache/bench-rows') },
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});

const wanted = PIECES.filter(({ name }) => options.only?.split(',').includes(name) ?? true);
const fileOf = ({ name }: Piece): string => join(options.to, `${name}.json`);

/** Measures a piece in a process of its own, which is ended when it takes too long. */
async function measure(piece: Piece): Promise<void> {
  const began = performance.now();
  const temporary = `${fileOf(piece)}.new`;
  const args = [join(import.meta.dirname, 'bench.ts'), ...piece.args.split(' '), '--json', temporary];
  process.stdout.write(`\n== ${piece.name}: ${piece.args} (load average ${loadavg()[0]?.toFixed(1)})\n`);
  const child = spawn(process.execPath, args, { stdio: 'inherit', timeout: MOST_MINUTES * 60_000 });
  const [code] = await once(child, 'exit');
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  if (code === 0) renameSync(temporary, fileOf(piece));
  process.stdout.write(`== ${piece.name} ${code === 0 ? 'took' : 'FAILED after'} ${minutes} min\n`);
}

/** Prints what is in the folder, and which goals are not met. */
function tell(): void {
  for (const piece of wanted.filter((each) => existsSync(fileOf(each)))) {
    const { at, figures }: { at: string; figures: Figure[] } = JSON.parse(readFileSync(fileOf(piece), 'utf8'));
    process.stdout.write(`\n${piece.name}, ${at}\n`);
    for (const { name, value, unit, note, goal } of figures) {
      const judged = goal === undefined ? '' : ` | ${goal.text}: ${goal.isMet ? 'met' : 'NOT MET'}`;
      process.stdout.write(`  ${name} | ${Number(value.toPrecision(4))} ${unit}${judged}${note ? ` | ${note}` : ''}\n`);
    }
  }
}

if (options.list) {
  for (const { name, minutes, args } of wanted) process.stdout.write(`${name}: about ${minutes} min: ${args}\n`);
  process.stdout.write(`together about ${wanted.reduce((sum, { minutes }) => sum + minutes, 0)} min\n`);
} else {
  mkdirSync(options.to, { recursive: true });
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd: import.meta.dirname });
  process.stdout.write(`commit ${commit.trim()}, figures in ${options.to}\n`);
  for (const piece of wanted.filter((each) => !existsSync(fileOf(each)))) await measure(piece);
  tell();
}
