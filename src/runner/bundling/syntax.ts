// Whether V8 can parse a bundle. The bundler lets pass what V8 alone judges: what a regular expression says, and names that
// are exported but nowhere declared. Found here it is told to whoever deploys, else the first run would fail of it.
//
// V8 parses modules on demand behind a flag only, so a worker thread does it. It executes nothing. One serves for all, and
// ends when it has been idle. Where the fault is, V8 says only of an error that nobody catches: a second one dies of it.

import { once } from 'node:events';
import { SourceMap } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { BuildOptions } from 'esbuild';
import { type Built, bundleWith, type CodeProblem } from './bundle-options.ts';

const IDLE_MS = 10_000;
const PARSE = `
  const { SourceTextModule } = require('node:vm');
  const { parentPort, workerData } = require('node:worker_threads');
  const parse = (code) => void new SourceTextModule(code, { identifier: 'bundle' });
  if (workerData) parse(workerData);
  parentPort.on('message', (code) => {
    try {
      parse(code);
      parentPort.postMessage(null);
    } catch (error) {
      parentPort.postMessage(error instanceof SyntaxError ? error.message : null);
    }
  });`;
/** The line that V8 shows, and its mark below the fault. */
const PLACE = /^bundle:(\d+)\n.*\n(\s*)\^/;

let parser: Worker | null = null;
let ending: NodeJS.Timeout | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Null when it parses. `options`: what it was built with. `file`: of a fault that has no place in what the bundle was made
 * of. Never rejects on what the code is.
 */
export async function syntaxProblem(
  file: string,
  { bundle }: Built,
  options: BuildOptions,
): Promise<CodeProblem | null> {
  const parsed = last.then(() => faultIn(bundle));
  last = parsed;
  const text = await parsed;
  if (text === null) return null;
  // The line that V8 shows has no mark when it is a thousand characters long.
  const result = await bundleWith({ ...options, minifyWhitespace: false });
  return { file, line: 1, column: 1, ...(result.ok ? await placeIn(result.built) : {}), text };
}

async function placeIn({ bundle, sourceMap }: Built): Promise<Partial<CodeProblem>> {
  const [, line = '1', indent = ''] = PLACE.exec(await shown(bundle)) ?? [];
  const origin = new SourceMap(JSON.parse(sourceMap)).findEntry(Number(line) - 1, indent.length);
  if (!('originalSource' in origin)) return {};
  return { file: origin.originalSource, line: origin.originalLine + 1, column: origin.originalColumn + 1 };
}

/** Null also when there is no memory for a thread: that says nothing of the code. */
async function faultIn(bundle: string): Promise<string | null> {
  clearTimeout(ending);
  try {
    parser ??= startParser();
    parser.ref();
    parser.postMessage(bundle);
    const [text] = (await once(parser, 'message')) as [string | null];
    parser.unref();
    ending = setTimeout(stopParser, IDLE_MS).unref();
    return text;
  } catch {
    parser = null;
    return null;
  }
}

/** The error's stack, with the line. */
async function shown(bundle: string): Promise<string> {
  try {
    await once(startParser(bundle), 'exit');
    return '';
  } catch (error) {
    return (error as Error).stack ?? '';
  }
}

function startParser(workerData?: string): Worker {
  const execArgv = ['--experimental-vm-modules', '--no-warnings'];
  return new Worker(PARSE, { eval: true, workerData, execArgv, env: {}, stderr: true, name: 'parser' });
}

function stopParser(): void {
  void parser?.terminate();
  parser = null;
}
