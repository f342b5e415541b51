// What the command line needs of the server's modules, each loaded when a command asks for it.

import { realpath } from 'node:fs/promises';
import { CommanderError } from 'commander';
import type { AdministrationDeps } from './cli/administration.ts';
import type { ComponentsDeps } from './cli/components.ts';
import type { BundledFiles } from './cli/deploy-files.ts';
import { createProgram, type ProgramDeps } from './cli/program.ts';
import { administrationOver } from './cli/remote-administration.ts';
import { findRunning } from './cli/running-server.ts';
import { CliError, EXIT, EXPECTED_ERRORS, exitCodeOf } from './cli/shell/exit.ts';
import { readProfiles } from './cli/shell/profiles.ts';
import { createConnect, type FindLocal, type Target, type WhyHidden } from './cli/shell/remote.ts';
import { withHelp, withServerBehind } from './cli/shell/suggest.ts';
import { jsonText, safeLines } from './cli/shell/text.ts';
import type { StoreCommands } from './cli/store.ts';
import { whyHidden } from './closed-path.ts';
import { sentKey } from './domain/files/file-mark.ts';
import type { Log } from './ports.ts';
import { ConfigError, dataPaths, readConfig } from './server/config.ts';
import { databaseLabel } from './server/database-url.ts';

/** What is written is for its user alone (keys, profiles, backups), but for the files of a project. */
const usersUmask = process.umask(0o077);

/** Writes a message, which may hold what others wrote. */
function say(message: string): void {
  process.stderr.write(`errand: ${safeLines(message).join('\n')}\n`);
}

/** Writes what the user of a terminal needs to know. */
const complain = (fields: object, name: string): void => {
  const { err } = fields as { err?: unknown };
  say(`${name}${err instanceof Error ? `: ${err.message}` : ''}`);
};
const log: Log = { debug: () => undefined, info: () => undefined, warn: complain, error: complain };

/**
 * Works over the API of the server that is named, or runs on the data dir; else on the store there; and where there is none, with
 * the current profile.
 */
const administer: AdministrationDeps['administer'] = async ({ url, key, profile }, act) => {
  const { administer: open, hasStore } = await import('./server/administration.ts');
  const isNamed = url !== undefined || profile !== undefined;
  const isRemote = async (): Promise<boolean> =>
    (await findLocal(key)) !== null || (!hasStore(readConfig(process.env)) && (await readProfiles()).current !== null);
  if (isNamed || (await isRemote())) {
    return act(administrationOver((await connectTo({ url, key, profile })).errand));
  }
  const { clock, random } = await import('./server/real-ports.ts');
  return open(readConfig(process.env), { clock, random, log, key }, act);
};

const print = (value: unknown): void => {
  process.stdout.write(`${jsonText(value, 2)}\n`);
};

/** Writes to standard output: no more is read than the reader takes. */
const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });

const findLocal: FindLocal = (key) => findRunning(readConfig(process.env), key);
/** The server that was asked last, for a complaint about its key. */
let asked: Target | null = null;
const onTarget = (target: Target): void => {
  asked = target;
};
const whyNoLocal: WhyHidden = () => whyHidden(dataPaths(readConfig(process.env).dataDir).running);
const connectTo = createConnect({ env: process.env, findLocal, whyHidden: whyNoLocal, onTarget });

const checking: ComponentsDeps['checking'] = async ({ path, url }, act) => {
  if (url !== null) {
    const { errand } = await connectTo({ url });
    return await act((after) => errand.checkComponents({ component_path: path, after: after ?? undefined }));
  }
  const { checkLocally } = await import('./server/local-check.ts');
  const { checksToWire } = await import('./http/wire/component-checks.ts');
  const { clock } = await import('./server/real-ports.ts');
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
const deploying: ProgramDeps['deploying'] = {
  connect: connectTo,
  list: async (dir: string): Promise<string[]> => {
    const { mayBeWorkflow, scanFolder } = await import('./engine/files/scan.ts');
    return [...(await scanFolder(dir)).stamps.keys()].filter(mayBeWorkflow);
  },
  bundle: async (file: { dir: string; path: string }): Promise<BundledFiles> => {
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
  idsOf: async (ownerId, path) => {
    const { sourceIdOf, workflowIdOf } = await import('./engine/files/identity.ts');
    return { workflow: workflowIdOf(ownerId, sentKey(path)), source: sourceIdOf(ownerId, path) };
  },
  complain: say,
};

const explain: ProgramDeps['explain'] = async (url) => {
  const { explainUrl } = await import('./webhook/explain.ts');
  const { createOwn } = await import('./webhook/own.ts');
  const { servicesOfNoEvents } = await import('./server/own-services.ts');
  const config = readConfig(process.env);
  const services = servicesOfNoEvents(config, config.metricsPort);
  return explainUrl(url, { allowTargets: config.allowTargets, own: createOwn({ services: () => services }) });
};

const redact: ProgramDeps['redact'] = async (rules, event) => {
  const [{ Redactor }, { matcherOf }] = await Promise.all([
    import('./domain/privacy/redactor.ts'),
    import('./engine/privacy/patterns.ts'),
  ]);
  return new Redactor(rules, await matcherOf(rules.patterns)).json(event);
};

const mails: ProgramDeps['mails'] = {
  check: async (smtpUrl) => (await import('./mail/smtp-check.ts')).checkSmtp(smtpUrl),
  send: async (mail) => (await import('./mail/test-mail.ts')).sendTestMail(mail),
};

const tryDatabase: ProgramDeps['tryDatabase'] = async (url) => {
  const { tryDatabase: answerOf } = await import('./store/postgres/maintenance/try-database.ts');
  const { is, says } = await answerOf(url);
  return { is, says: `${databaseLabel(url)}: ${says}` };
};

async function storeCommands(): Promise<StoreCommands> {
  const { createStoreCommands } = await import('./server/store-commands.ts');
  return createStoreCommands(readConfig(process.env));
}

/** Refuses settings as a wrong command line: a start without options does not come here. */
function checkSettings(): void {
  try {
    readConfig(process.env);
  } catch (error) {
    throw error instanceof ConfigError ? new CliError(error.message, EXIT.usage) : error;
  }
}

const program = createProgram({
  ...{
    env: process.env,
    administer,
    print,
    write,
    checking,
    deploying,
    explain,
    redact,
    mails,
    tryDatabase,
    usersUmask,
    store: storeCommands,
  },
  start: async () => {
    checkSettings();
    await import('./main.ts');
  },
  findLocal,
  whyHidden: whyNoLocal,
  onTarget,
});

// `errand config | head` closes the pipe early: not an error, but what was found before stays found.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  say(`standard output cannot be written: ${error.message}`);
  process.exit(EXIT.failed);
});
// There is no other place where it could be said.
process.stderr.on('error', () => undefined);

const words = withServerBehind(program, process.argv.slice(2));
program.parseAsync(withHelp(program, words), { from: 'user' }).catch(async (error: unknown) => {
  if (error instanceof CommanderError) {
    // It has said what was wrong.
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    return;
  }
  const { complaintOf } = await import('./server/startup-error.ts');
  const code = exitCodeOf(error);
  // Of several places with a key, it may be another one than a person thinks of.
  const which = code === EXIT.denied && asked !== null ? ` (the key was that of ${asked.keyFrom})` : '';
  say(complaintOf(error, EXPECTED_ERRORS) + which);
  process.exitCode = code;
});
