// errand doctor: whether a server is well, and what to do where it is not.

import { constants } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Errand, ProblemError, type Setting } from '../../client/client.ts';
import { whyClosed, whyHidden } from '../../closed-path.ts';
import { SECOND_MS } from '../../domain/limits.ts';
import { openFilesLimit, whyTooFewFiles } from '../../open-files.ts';
import { type Config, dataPaths, readConfig } from '../../server/config.ts';
import { readRunning } from '../../server/running-file.ts';
import { EXIT } from '../shell/exit.ts';
import { lateQueues } from '../shell/late-queues.ts';
import { createOutput, printJson, printTable, type Style } from '../shell/output.ts';
import { type Connect, DATA_DIR, type ServerOptions, serverCommand } from '../shell/remote.ts';

interface Finding {
  readonly what: string;
  readonly is: 'well' | 'look' | 'wrong';
  /** What was found, and what to do. */
  readonly says: string;
}

type Tried = Omit<Finding, 'what'>;
/** Tries the database, up to its first answer. */
export type TryDatabase = (url: string) => Promise<Tried>;
type ServerSettings = ReadonlyMap<string, Setting>;

interface Isolation {
  readonly isolation: string;
  readonly ownersWithoutJail: number;
}

export interface MailChecks {
  /** Tries the mail server, up to signing in. */
  readonly check: (smtpUrl: string) => Promise<Tried>;
  /** Sends a mail that says that mails arrive. */
  readonly send: (mail: { smtpUrl: string; from: string; to: string }) => Promise<Tried>;
}

interface DoctorDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly connect: Connect;
  readonly mails: MailChecks;
  readonly tryDatabase: TryDatabase;
}

const STYLES: Readonly<Record<string, Style>> = { well: 'green', look: 'yellow', wrong: 'red' };
/** Errors that are findings; of settings that are wrong, too. */
const EXPECTED: ReadonlySet<string> = new Set(['CliError', 'ConfigError', 'ProblemError', 'ConnectionError']);
const MIN_NODE = 24;
const MIN_FREE = 1024 ** 3;
const MAX_SKEW_MS = 5 * SECOND_MS;

interface Trials {
  /** What the server says of its settings; null: it was not reached, or does not tell them. */
  readonly settings: ServerSettings | null;
  readonly mails: MailChecks;
  readonly tryDatabase: TryDatabase;
  readonly isSent: boolean;
}

interface DoctorOptions extends ServerOptions {
  readonly sendMail?: boolean;
}

export function addDoctor(program: Command, { env, connect, mails, tryDatabase }: DoctorDeps): void {
  const doctor = serverCommand(
    program,
    'doctor',
    'check settings, disk, database, server, clock and mail, and say what to do; exit code 1 when something is wrong',
  ).option('--send-mail', 'also send a mail to ERRAND_MAIL_TO when the mail server works');
  doctor.action(async (options: DoctorOptions) => {
    const out = createOutput();
    const asked = await server(connect, options);
    const trials = { mails, tryDatabase, isSent: options.sendMail === true, settings: asked.settings };
    const isNamed = options.url !== undefined || options.profile !== undefined;
    const machine = asked.isHere ? await here(env, trials) : isNamed ? [] : [elsewhere(asked)];
    const findings = [...machine, ...asked.findings];
    if (findings.some(({ is }) => is === 'wrong')) process.exitCode = EXIT.failed;
    if (options.json) return printJson(out, findings);
    await printTable(out, findings, [
      { title: 'WHAT', of: ({ what }) => what },
      { title: 'IS', of: ({ is }) => is, style: (text) => STYLES[text] ?? null },
      { title: 'SAYS', of: ({ says }) => says },
    ]);
  });
}

/** Checks this machine and this environment. */
async function here(env: NodeJS.ProcessEnv, trials: Trials): Promise<Finding[]> {
  const major = Number.parseInt(process.versions.node, 10);
  const node: Finding = { what: 'Node.js', is: major >= MIN_NODE ? 'well' : 'wrong', says: process.version };
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    return [node, { what: 'settings', is: 'wrong', says: (error as Error).message }];
  }
  return [
    node,
    { what: 'settings', is: 'well', says: 'can be read; "errand config" lists them' },
    await disk(config),
    ...(await openFiles(config, trials)),
    ...(await database(config, trials)),
    await mail(config, trials),
    ...(trials.settings === null ? [isolation(config, "; by this shell's environment, no server told its own")] : []),
  ];
}

async function disk({ dataDir }: Config): Promise<Finding> {
  const closed = whyHidden(dataDir) ?? whyClosed(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  if (closed !== null) return { what: 'data dir', is: 'wrong', says: `${dataDir} cannot be used: ${closed}` };
  const space = await statfs(dataDir).catch(() => null);
  if (space === null)
    return { what: 'data dir', is: 'look', says: `${dataDir} is not there: the first start makes it` };
  const free = space.bavail * space.bsize;
  const says = `${dataDir}, ${(free / MIN_FREE).toFixed(1)} GiB free`;
  if (free >= MIN_FREE) return { what: 'data dir', is: 'well', says };
  return {
    what: 'data dir',
    is: 'wrong',
    says: `${says}: make room. On a full disk events get 503, and no server starts; a lower ERRAND_RETENTION_DAYS takes a start, and helps only before`,
  };
}

/** Looks at the limit of the server that runs here; where none does, at that of this shell. */
async function openFiles({ dataDir, maxConnections }: Config, { settings }: Trials): Promise<Finding[]> {
  const running = settings === null ? null : await readRunning(dataPaths(dataDir).running);
  const limit = openFilesLimit(running?.pid ?? 'self');
  if (limit === null) return [];
  const connections = Number(settings?.get('ERRAND_MAX_CONNECTIONS')?.value ?? maxConnections);
  const why = whyTooFewFiles(limit, connections);
  return [{ what: 'open files', is: why === null ? 'well' : 'look', says: why ?? `at most ${limit}` }];
}

async function database({ databaseUrl }: Config, { settings, tryDatabase }: Trials): Promise<Finding[]> {
  const what = 'database';
  if (databaseUrl !== null) return [{ what, ...(await tryDatabase(databaseUrl)) }];
  if (!settings?.get('ERRAND_DATABASE_URL')?.set) return [];
  const says = 'the server has an ERRAND_DATABASE_URL, which is not set in this shell: set it here, too, to try it';
  return [{ what, is: 'look', says }];
}

async function mail(
  { smtpUrl, mailFrom: from, mailTo: to }: Config,
  { settings, mails, isSent }: Trials,
): Promise<Finding> {
  const what = 'mail';
  if (smtpUrl === null && settings?.get('ERRAND_SMTP_URL')?.set) {
    const says = 'the server has an ERRAND_SMTP_URL, which is not set in this shell: set it here, too, to try it';
    return { what, is: 'look', says };
  }
  if (smtpUrl === null)
    return { what, is: 'look', says: 'no ERRAND_SMTP_URL: mails are files in the outbox folder, and reach no person' };
  const { is, says } = await mails.check(smtpUrl);
  if (is === 'wrong') return { what, is, says };
  if (to === null) return { what, is: 'look', says: `${says}; no ERRAND_MAIL_TO: the first owner has no address` };
  if (!isSent) return { what, is, says: `${says}; mails go to ${to} (--send-mail sends one)` };
  const sent = await mails.send({ smtpUrl, from, to });
  return { what, is: sent.is === 'well' ? is : sent.is, says: `${says}; ${sent.says}` };
}

function isolation({ isolation: level, ownersWithoutJail }: Isolation, whose: string): Finding {
  if (level === 'jail') return { what: 'isolation', is: 'well', says: `jail${whose}` };
  const says = `process: for code of your own; ERRAND_ISOLATION=jail for code of people whom you do not trust${whose}`;
  return { what: 'isolation', is: ownersWithoutJail > 1 ? 'look' : 'well', says };
}

interface Asked {
  readonly findings: readonly Finding[];
  readonly settings: ServerSettings | null;
  /** How the server was found, for people; null: none was. */
  readonly from: string | null;
  /** The server is that of the data dir here, or there is none. */
  readonly isHere: boolean;
}

/** Asks the server, and checks what it says. */
async function server(connect: Connect, options: ServerOptions): Promise<Asked> {
  let from: string | null = null;
  const asked = (findings: readonly Finding[], settings: ServerSettings | null): Asked => {
    const isNamed = options.url !== undefined || options.profile !== undefined;
    return { findings, settings, from, isHere: from === null ? !isNamed : from === DATA_DIR };
  };
  try {
    const remote = await connect(options);
    from = remote.from;
    const { errand, url } = remote;
    const [readiness, clock] = [await ready(() => errand.getReadiness()), await clockOf(url)];
    const { data: me } = await errand.getMe();
    const key: Finding = { what: 'key', is: 'well', says: `of ${me.name} (${me.id})` };
    const settings = await settingsOf(errand);
    const level = settings?.get('ERRAND_ISOLATION')?.value ?? 'process';
    const ownersWithoutJail = Number(settings?.get('ERRAND_OWNERS_WITHOUT_JAIL')?.value ?? 1);
    const waiting = settings === null ? [] : await queues(errand);
    const isolated = settings === null ? [] : [isolation({ isolation: level, ownersWithoutJail }, '')];
    return asked([{ ...readiness, says: `${url}: ${readiness.says}` }, clock, key, ...waiting, ...isolated], settings);
  } catch (error) {
    if (!(error instanceof Error) || !EXPECTED.has(error.name)) throw error;
    return asked([{ what: 'server', is: 'wrong', says: error.message }], null);
  }
}

/** Says that this machine was not looked at: its settings are not those of the server. */
function elsewhere({ from }: Asked): Finding {
  const says = `not checked, since the server is that of ${from ?? 'an option'}: it has its own settings, disk and mail server`;
  return { what: 'this machine', is: 'well', says };
}

/** Returns null when the key may not read settings. */
async function settingsOf(errand: Errand): Promise<ServerSettings | null> {
  try {
    return new Map((await errand.listSettings()).data.map((setting) => [setting.name, setting]));
  } catch (error) {
    if (error instanceof ProblemError && error.status === 403) return null;
    throw error;
  }
}

/** Looks at what waits: each server says that it is ready, also where no process does this work. */
async function queues(errand: Errand): Promise<Finding[]> {
  const what = 'queues';
  const late = lateQueues(await errand.getMetrics());
  return late.length === 0
    ? [{ what, is: 'well', says: 'nothing waits for long' }]
    : late.map((says) => ({ what, is: 'look', says }));
}

async function ready(ask: () => Promise<{ readonly status: string; readonly bundling?: string }>): Promise<Finding> {
  const { status, bundling } = await ask();
  if (status === 'ok') return { what: 'server', is: 'well', says: 'ready' };
  const says = bundling === undefined ? status : `${status}: nothing can be deployed there; its log says why`;
  return { what: 'server', is: 'wrong', says };
}

async function clockOf(url: string): Promise<Finding> {
  const before = Date.now();
  const { headers } = await fetch(`${url}/healthz`);
  const date = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(date)) return { what: 'clock', is: 'look', says: 'the server does not tell its time' };
  // A date has whole seconds.
  const skewMs = Math.max(0, Math.abs(date - (before + Date.now()) / 2) - SECOND_MS);
  if (skewMs <= MAX_SKEW_MS) return { what: 'clock', is: 'well', says: 'as here' };
  const says = `${Math.round(skewMs / SECOND_MS)} s away from the one here: receivers refuse signatures of another time; use NTP on both`;
  return { what: 'clock', is: 'wrong', says };
}
