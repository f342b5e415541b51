// The command line: `errand start` is the server; the other commands talk to it.

import { realpath } from 'node:fs/promises';
import { Command } from 'commander';
import { type Api, CliError, connect, findServer } from './cli/api.ts';
import { addAudit } from './cli/audit.ts';
import { addComponents, type Checks, type ComponentsDeps } from './cli/components.ts';
import { addConfig } from './cli/config.ts';
import { addDeploy, type Bundled } from './cli/deploy.ts';
import { addExplainUrl } from './cli/explain-url.ts';
import { addKeys, addOwners } from './cli/owners.ts';
import { addStore } from './cli/store.ts';
import { VERSION } from './domain/version.ts';
import type { Log } from './ports.ts';
import { administer } from './server/administration.ts';
import { readConfig } from './server/config.ts';
import { servicesOfNoEvents } from './server/own-services.ts';
import { clock, random } from './server/real-ports.ts';
import { complaintOf } from './server/startup-error.ts';
import { createStoreCommands } from './server/store-commands.ts';
import { createOwn } from './webhook/own.ts';

process.umask(0o077);

const program = new Command('errand')
  .description('Self-hosted workflows that catch every error and tell a person about it')
  .version(VERSION)
  .showHelpAfterError();

program
  .command('start')
  .description('start the server in this terminal')
  .action(async () => {
    await import('./main.ts');
  });

/** What the user of a terminal needs to know. */
const complain = (fields: object, name: string): void => {
  const { err } = fields as { err?: unknown };
  process.stderr.write(`errand: ${name}${err instanceof Error ? `: ${err.message}` : ''}\n`);
};
const log: Log = { debug: () => undefined, info: () => undefined, warn: complain, error: complain };

const deps = {
  administer: <T>(act: Parameters<typeof administer<T>>[2]): Promise<T> =>
    administer(readConfig(process.env), { clock, random, log }, act),
  print: (value: unknown): void => {
    process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  },
};
/** A log may be larger than memory: no more is read than the reader takes. */
const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
async function serverAt(url: string | null): Promise<Api> {
  const config = readConfig(process.env);
  if (url !== null && config.apiKey === null) throw new CliError('--url needs the key in ERRAND_API_KEY');
  const api = url === null ? await findServer(config) : connect(url, config.apiKey as string);
  if (api === null) throw new CliError(`no server runs on ${config.dataDir}: name one with --url`);
  return api;
}

const checking: ComponentsDeps['checking'] = async ({ path, url }, act) => {
  if (url !== null) {
    const api = await serverAt(url);
    return await act(async (after) => {
      const asked = { component_path: path, ...(after === null ? {} : { after }) };
      return (await api.post('/v1/components/check', asked)) as Checks;
    });
  }
  const { checkLocally } = await import('./server/local-check.ts');
  const { checksToWire } = await import('./http/wire/component-checks.ts');
  await checkLocally(
    readConfig(process.env),
    { clock, log },
    {
      path,
      act: (check) => act(async (after) => checksToWire(await check(after))),
    },
  );
};

/** Bundling loads much that the other commands do not need. */
const deploying = {
  api: serverAt,
  list: async (dir: string): Promise<string[]> => {
    const { mayBeWorkflow, scanFolder } = await import('./engine/files/scan.ts');
    return [...(await scanFolder(dir)).stamps.keys()].filter(mayBeWorkflow);
  },
  bundle: async (file: { dir: string; path: string }): Promise<Bundled> => {
    const { bundleFile } = await import('./runner/bundling/bundle-file.ts');
    const { formatProblem } = await import('./runner/bundling/bundle-options.ts');
    const { bundleStep } = await import('./runner/bundling/bundle.ts');
    const dir = await realpath(file.dir);
    const bundled = await bundleFile({ ...file, dir });
    if (bundled.kind === 'module' || (bundled.kind === 'workflow' && bundled.usesSdk)) return bundled;
    // A component; it may pin versions, which workflow files do not.
    const component = await bundleStep({ namespace: 'source', dir, path: file.path, isTrusted: true });
    if (component.ok) return { kind: 'source', bundle: component.bundle, sourceMap: component.sourceMap };
    const { problems } = bundled.kind === 'broken' ? bundled : component;
    return { kind: 'broken', problems: problems.map(formatProblem) };
  },
  print: deps.print,
  complain: (line: string) => void process.stderr.write(`errand: ${line}\n`),
};

addOwners(program, deps);
addKeys(program, deps);
addAudit(program, { ...deps, write });
addStore(program, { commands: () => createStoreCommands(readConfig(process.env)), print: deps.print });
addDeploy(program, deploying);
addComponents(program, { checking, print: deps.print, write });
addConfig(program, process.env);
addExplainUrl(program, () => {
  const config = readConfig(process.env);
  const services = servicesOfNoEvents(config, config.metricsPort);
  return { allowTargets: config.allowTargets, own: createOwn({ services: () => services }) };
});

// `errand config | head` closes the pipe early: not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`errand: ${complaintOf(error)}\n`);
  process.exitCode = 1;
});
