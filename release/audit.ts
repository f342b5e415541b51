// Asks the registry of npm for known vulnerabilities of what is shipped. Exits 1 for one that is high or critical; what is less
// is told. A registry that does not answer, or takes no such question, is told, too, and is no failure.

import { execFile } from 'node:child_process';
import { inShippedFolder } from './shrinkwrap.ts';

export interface AuditVerdict {
  readonly isFailure: boolean;
  readonly lines: readonly string[];
}

const ARGUMENTS = ['audit', '--json', '--package-lock-only'];
const SEVERE: readonly string[] = ['high', 'critical'];
const TIMEOUT_MS = 120_000;

interface Vulnerability {
  readonly name: string;
  readonly severity: string;
  readonly range?: string;
}

/** `printed`: what `npm audit --json` has printed. */
export function auditVerdict(printed: string): AuditVerdict {
  const answer = parsed(printed);
  const { vulnerabilities, metadata } = answer as {
    vulnerabilities?: Readonly<Record<string, Vulnerability>>;
    metadata?: { vulnerabilities?: object };
  };
  if (typeof vulnerabilities === 'object' && metadata?.vulnerabilities) {
    const found = Object.values(vulnerabilities);
    const lines = found.map(({ name, severity, range = '*' }) => `${severity}: ${name} ${range}`).sort();
    const isFailure = found.some(({ severity }) => SEVERE.includes(severity));
    return { isFailure, lines: lines.length === 0 ? ['no known vulnerability in what is shipped'] : lines };
  }
  const why = whyUnanswered(answer);
  if (why !== null) return { isFailure: false, lines: [`the registry was not asked for vulnerabilities: ${why}`] };
  return { isFailure: true, lines: [`npm audit said what is no audit: ${printed.trim().slice(0, 500) || 'nothing'}`] };
}

/** Null when npm itself is at fault, for example without a lockfile. */
function whyUnanswered(answer: object): string | null {
  const { message, statusCode, error } = answer as {
    message?: string;
    statusCode?: number;
    error?: { code?: string; summary?: string };
  };
  const isAway = /^(?:ECONN|ENOTFOUND|EAI_|ETIMEDOUT|ENET|EHOST|ERR_SOCKET|CERT_)/.test(error?.code ?? '');
  const said = message ?? error?.summary ?? '';
  const failed = /^request to |\b(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET)\b/.test(said);
  return typeof statusCode === 'number' || isAway || failed
    ? (said || error?.code || `${statusCode}`).slice(0, 300)
    : null;
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** What npm prints; it exits with 1 for what it finds, too. */
function askNpm(cwd: string): Promise<string> {
  const options = { cwd, timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile('npm', ARGUMENTS, options, (error, stdout) => {
      resolve(error?.killed ? JSON.stringify({ error: { code: 'ETIMEDOUT', summary: 'it did not answer' } }) : stdout);
    });
  });
}

async function main(): Promise<void> {
  const { isFailure, lines } = auditVerdict(await inShippedFolder(askNpm));
  for (const line of lines) console.log(line);
  if (isFailure) process.exitCode = 1;
}

if (import.meta.main) await main();
