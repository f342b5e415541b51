// errand dev: a server that deploys a folder with every save, and shows what its workflows do.

import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { unreadEnv } from '../deploy-env.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { createOutput, type Output } from '../shell/output.ts';
import type { Connect } from '../shell/remote.ts';
import { oneLine, safeLines } from '../shell/text.ts';
import { countValue } from '../shell/values.ts';
import { type LogLine, startServer } from './dev-server.ts';
import { RunLog } from './run-log.ts';
import { type CheckedTypes, findTypeScript, TypeChecks } from './type-check.ts';
import { watchSaves } from './watch.ts';

interface DevOptions {
  readonly port?: number;
  readonly dataDir?: string;
  /** `--no-types`: false. */
  readonly types: boolean;
}

const DEFAULT_DIR = 'workflows';
const MAX_PORT = 65_535;
const WARN = 40;
/** Older files were not saved just now: a switched branch, for instance, or the start. */
const JUST_SAVED_MS = 10_000;
/** What a person looks for in the greeting of the server. */
const GREETING = /^Errand |^ {2}(?:public|dashboard|docs) /;

interface DevDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly connect: Connect;
  /** Returns the paths, with slashes, of code below a folder. */
  readonly list: (dir: string) => Promise<readonly string[]>;
}

export function addDev(program: Command, { env, connect, list }: DevDeps): void {
  const dev = program
    .command('dev [folder]')
    .description('start a server that deploys a folder of workflows with every save, and show runs, errors and types')
    .option('--port <port>', 'port to listen on; 0: any free one (ERRAND_PORT, 4400)', countValue(0, MAX_PORT))
    .option('--data-dir <dir>', 'folder of the store (ERRAND_DATA_DIR, ./data)')
    .option('--no-types', "do not check types with the project's TypeScript");
  withExamples(dev, 'errand dev', 'errand dev src/workflows --port 0');
  dev.action(async (given: string | undefined, { port, dataDir, types }: DevOptions) => {
    const dir = await folderOf(given);
    env.ERRAND_WORKFLOWS_DIR = dir;
    env.ERRAND_LOG_LEVEL = 'info';
    if (port !== undefined) env.ERRAND_PORT = String(port);
    if (dataDir !== undefined) env.ERRAND_DATA_DIR = dataDir;
    process.exitCode = await develop({ env, connect, list, dir, hasTypes: types });
  });
}

async function folderOf(given: string | undefined): Promise<string> {
  const dir = resolve(given ?? DEFAULT_DIR);
  const isFolder = await stat(dir).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return dir;
  const hint = given === undefined ? ': name the folder of your workflows, or make a project with "errand init"' : '';
  throw new CliError(`there is no folder ${dir}${hint}`, EXIT.notFound);
}

interface Developing extends DevDeps {
  readonly dir: string;
  readonly hasTypes: boolean;
}

/** Returns the exit code, once the server has ended. */
async function develop({ env, connect, list, dir, hasTypes }: Developing): Promise<number> {
  const out = createOutput();
  const unread = await unreadEnv(dir);
  if (unread !== null) out.note(`${unread} is not read: variables of workflows are in ${join(dir, '.env')}`);
  const project = hasTypes ? await findTypeScript(dir) : null;
  const types = project && new TypeChecks(project, createTypeLog(out));
  const ending = new AbortController();
  let isListening = false;
  const server = startServer(env, {
    onLog: (line) => void told(out, line, { dir, isListening }),
    onText: (line) => {
      if (isListening || GREETING.test(line) || line.startsWith('errand:')) void out.write(`${oneLine(line)}\n`);
    },
  });
  const endWatching = watchSaves({ dir, list, onSave: () => isListening && types?.ask() });
  let isInterrupted = false;
  const stop = (): void => {
    isInterrupted = true;
    ending.abort();
    types?.stop();
    server.stop();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  if ((await server.url) !== null && !isInterrupted) {
    isListening = true;
    types?.ask();
    const { errand } = await connect({});
    const begun = `${dir} is deployed with every save; Ctrl-C ends it`;
    new RunLog(errand, out)
      .follow(ending.signal, () => void out.write(`${out.style('dim', begun)}\n`))
      .catch((error: Error) => {
        if (!ending.signal.aborted) out.note(`errand: runs are not shown any more: ${error.message}`);
      });
  }
  const code = await server.ended;
  ending.abort();
  endWatching();
  types?.stop();
  return isInterrupted ? EXIT.interrupted : code;
}

/** What the server's log calls it → what is shown. */
const FILE_EVENTS: Readonly<Record<string, string>> = {
  'workflow file deployed': 'deployed',
  'workflow file is right again': 'right again, as it was deployed before:',
  'workflow file was deleted: its workflow is disabled': 'switched off, since its file is gone:',
};

/** Writes a line of the server's log for a person: what became of files, and what went wrong. */
async function told(out: Output, line: LogLine, at: { dir: string; isListening: boolean }): Promise<void> {
  const { level, msg, file, problems = [], err } = line;
  const isWrong = level >= WARN;
  if (!isWrong) {
    const what = FILE_EVENTS[msg];
    if (file === undefined || what === undefined) return;
    const took = at.isListening ? await sinceSaved(join(at.dir, file)) : null;
    await out.write(
      `${out.style('green', what)} ${oneLine(file)}${took === null ? '' : ` ${took} ms after it was saved`}\n`,
    );
    return;
  }
  const why = err?.message === undefined ? '' : `: ${err.message}`;
  const lines = [`${file === undefined ? '' : `${file}: `}${msg}${why}`, ...problems.map((problem) => `  ${problem}`)];
  for (const text of lines.flatMap(safeLines)) await out.write(`${out.style('red', text)}\n`);
}

async function sinceSaved(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null);
  const ms = found === null ? Number.POSITIVE_INFINITY : Math.round(Date.now() - found.mtimeMs);
  return ms < JUST_SAVED_MS ? ms : null;
}

/** Returns what prints the type errors that are new since the last check, and that there are none any more. */
function createTypeLog(out: Output): (checked: CheckedTypes) => void {
  let last = '';
  return ({ ok, lines }) => {
    const said = lines.join('\n');
    if (said === last) return;
    const [wasWrong, color] = [last !== '', ok ? ('green' as const) : ('yellow' as const)];
    last = said;
    const text = ok && wasWrong ? ['types are right again'] : lines.map((line) => `types: ${line}`);
    void out.write(text.map((line) => `${out.style(color, oneLine(line))}\n`).join(''));
  };
}
