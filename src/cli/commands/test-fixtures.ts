// errand test: runs the code of a workflow file with the fixtures of errors that happened.

import { registerHooks } from 'node:module';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import type { Fixture, FixtureRun } from '../../sdk/testing.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { readJson } from '../shell/json-text.ts';
import { createOutput, printJson, printTable, stateStyle } from '../shell/output.ts';

interface Tested {
  readonly fixture: string;
  readonly run: FixtureRun;
}

export function addTest(program: Command): void {
  const command = program
    .command('test <file> <fixtures...>')
    .description('run the code of a workflow file here with fixtures of errors; exit code 1 when one fails')
    .option('--json', 'print JSON');
  withExamples(
    command,
    'errand errors show last --fixture > no-card.json',
    'errand test workflows/charge-orders.ts no-card.json',
  );
  command.action(async (file: string, fixtures: readonly string[], { json }: { readonly json?: true }) => {
    const out = createOutput();
    const { runFixture } = await import('../../sdk/testing.ts');
    const code = await codeOf(file);
    const tested: Tested[] = [];
    for (const fixture of fixtures) tested.push({ fixture, run: await runFixture(code, await readFixture(fixture)) });
    if (tested.some(({ run }) => run.state === 'failed')) process.exitCode = EXIT.failed;
    for (const { fixture, run } of tested) {
      if (run.redacted) out.note(`${fixture} is redacted: the code got [redacted] where rules hide something`);
    }
    if (json)
      return printJson(
        out,
        tested.map(({ fixture, run }) => ({ fixture, ...run, thrown: undefined })),
      );
    await printTable(out, tested, [
      { title: 'FIXTURE', of: ({ fixture }) => fixture },
      { title: 'STATE', of: ({ run }) => run.state, style: stateStyle },
      { title: 'STEP', of: ({ run }) => run.step },
      { title: 'ERROR', of: ({ run }) => run.error && `${run.error.code}: ${run.error.msg}` },
    ]);
  });
}

/** What the server has for code, so that its folder needs no package. */
const OWN: ReadonlyMap<string, string> = new Map(
  ['workflow', 'testing'].map((name) => [
    `errand/${name}`,
    new URL(`../../sdk/${name}${extname(import.meta.url)}`, import.meta.url).href,
  ]),
);

/** Lets code import the modules of this program where its project has not installed the package. */
function provideOwnModules(): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      try {
        return next(specifier, context);
      } catch (error) {
        const url = OWN.get(specifier);
        if (url === undefined || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
        return { url, shortCircuit: true };
      }
    },
  });
}

async function codeOf(file: string): Promise<unknown> {
  provideOwnModules();
  const loaded = (await import(pathToFileURL(resolve(file)).href).catch((error: Error) => {
    throw new CliError(`${file} cannot be loaded: ${error.message}`);
  })) as { readonly default?: unknown };
  if (loaded.default !== undefined) return loaded.default;
  throw new CliError(`${file} has no default export: it is no workflow`);
}

async function readFixture(file: string): Promise<Fixture> {
  const fixture = (await readJson(file)) as Partial<Fixture> | null;
  if (fixture?.fixture === 1) return fixture as Fixture;
  throw new CliError(`${file} is no fixture of an error, as "errand errors show <id> --fixture" prints it`, EXIT.usage);
}
