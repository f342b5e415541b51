// Checks whether V8 can parse a bundle. The bundler accepts what only V8 rejects: faulty regular expressions, and
// exported names that are not declared. Found here, the fault is reported at the deployment instead of failing the
// first run.
//
// V8 parses modules on demand only behind a flag, so a worker thread parses them. It executes nothing. One thread
// serves all bundles and ends when it is idle. V8 gives the place of a fault only for an uncaught error, so a second
// thread dies of it to find the place.

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
/** The line that V8 shows, and the mark below the fault. */
const PLACE = /^bundle:(\d+)\n.*\n(\s*)\^/;

let parser: Worker | null = null;
let ending: NodeJS.Timeout | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Returns the fault that V8 finds; null when the bundle parses. `options`: what the bundle was built with. `file`: for
 * a fault without a place in the sources. Never rejects because of the code.
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
  // V8 shows no mark in a line of a thousand characters.
  const result = await bundleWith({ ...options, minifyWhitespace: false });
  return { file, line: 1, column: 1, ...(result.ok ? await placeIn(result.built) : {}), text };
}

async function placeIn({ bundle, sourceMap }: Built): Promise<Partial<CodeProblem>> {
  const [, line = '1', indent = ''] = PLACE.exec(await shown(bundle)) ?? [];
  const origin = new SourceMap(JSON.parse(sourceMap)).findEntry(Number(line) - 1, indent.length);
  if (!('originalSource' in origin)) return {};
  return { file: origin.originalSource, line: origin.originalLine + 1, column: origin.originalColumn + 1 };
}

/** Returns V8's message; null when the bundle parses, or when there is no memory for a thread. */
async function faultIn(bundle: string): Promise<string | null> {
  clearTimeout(ending);
  for (let triesLeft = 2; triesLeft > 0; triesLeft--) {
    try {
      parser ??= sharedParser();
      const text = await answerOf(parser, bundle);
      ending = setTimeout(stopParser, IDLE_MS).unref();
      return text;
    } catch {
      parser = null;
    }
  }
  return null;
}

/** Returns the thread's answer. Rejects when the thread ends without one: what is bundled next waits for this. */
async function answerOf(thread: Worker, bundle: string): Promise<string | null> {
  const over = new AbortController();
  const ended = once(thread, 'exit', over).then(() => Promise.reject(new Error('the thread has ended')));
  thread.ref();
  thread.postMessage(bundle);
  try {
    const [text] = (await Promise.race([once(thread, 'message', over), ended])) as [string | null];
    thread.unref();
    return text;
  } finally {
    over.abort();
  }
}

/** Returns the error's stack, which contains the line. */
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

function sharedParser(): Worker {
  const thread = startParser();
  return thread.once('exit', () => {
    if (parser === thread) parser = null;
  });
}

function stopParser(): void {
  void parser?.terminate();
  parser = null;
}
