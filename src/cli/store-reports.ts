// What the commands of the store report, for people.

import { type Output, printFields, printTable } from './shell/output.ts';
import { tookText } from './shell/text.ts';

interface Finding {
  readonly check: string;
  readonly detail: string;
  readonly count: number;
}

type Figures = Readonly<Record<string, number>>;

export interface CheckReport {
  readonly ok: boolean;
  readonly store: string;
  readonly schema: number;
  /** Null: the rows cannot be read. */
  readonly figures: {
    readonly owners: number;
    readonly attempts: number;
    readonly accepted: Figures;
    readonly kept: Figures;
  } | null;
  readonly findings: readonly Finding[];
}

export interface BackupReport {
  readonly file: string;
  readonly bytes: number;
  readonly schema: number;
  readonly integrity: string;
  readonly kept: Figures;
  readonly opens_with: string;
}

export interface MoveReport {
  readonly from: string;
  readonly to: string;
  readonly resumed: boolean;
  readonly took_ms: number;
  readonly tables: Readonly<Record<string, { readonly rows: number; readonly sha256: string }>>;
}

export interface SalvageReport {
  readonly from: string;
  readonly file: string;
  readonly damage: readonly string[];
  readonly wal: string;
  readonly tables: Readonly<Record<string, { readonly read: number; readonly lost: number | null }>>;
  readonly repairs: readonly { readonly what: string; readonly rows: number }[];
  readonly secrets: boolean;
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  readonly next: string;
}

function resultOf(isOk: boolean, { length }: readonly unknown[]): string {
  return isOk ? 'everything adds up' : `${length} ${length === 1 ? 'check' : 'checks'} failed`;
}

export async function printCheck(out: Output, { ok, store, schema, figures, findings }: CheckReport): Promise<void> {
  await printFields(out, {
    store,
    schema,
    owners: figures?.owners,
    attempts: figures?.attempts,
    result: resultOf(ok, findings),
  });
  if (figures !== null) {
    const { accepted, kept } = figures;
    const facts = [...new Set([...Object.keys(accepted), ...Object.keys(kept)])];
    await out.write('\n');
    await printTable(
      out,
      facts.map((fact) => ({ fact, ledger: accepted[fact] ?? 0, rows: kept[fact] ?? 0 })),
      [
        { title: 'FACT', of: ({ fact }) => fact },
        { title: 'LEDGER', of: ({ ledger }) => ledger },
        { title: 'ROWS', of: ({ rows }) => rows },
      ],
    );
  }
  await printFindings(out, findings);
}

async function printFindings(out: Output, findings: readonly Finding[]): Promise<void> {
  if (findings.length === 0) return;
  await out.write('\n');
  await printTable(out, findings, [
    { title: 'CHECK', of: ({ check }) => check, style: () => 'red' },
    { title: 'COUNT', of: ({ count }) => count },
    { title: 'DETAIL', of: ({ detail }) => detail },
  ]);
}

export async function printMove(
  out: Output,
  { from, to, resumed, took_ms: tookMs, tables }: MoveReport,
): Promise<void> {
  await printFields(out, { from, to, resumed, took: tookText(tookMs) });
  await out.write('\n');
  await printTable(out, Object.entries(tables), [
    { title: 'TABLE', of: ([table]) => table },
    { title: 'ROWS', of: ([, { rows }]) => rows },
    { title: 'SHA-256 OF BOTH SIDES', of: ([, { sha256 }]) => sha256 },
  ]);
}

export async function printSalvage(out: Output, report: SalvageReport): Promise<void> {
  const { from, file, damage, wal, tables, repairs, secrets, ok, findings, next } = report;
  await printFields(out, {
    ...{ from, file, damage: damage.join('; '), 'write-ahead log': wal },
    secrets: secrets ? 'kept' : 'lost with the key that sealed them',
    check: resultOf(ok, findings),
    next,
  });
  await out.write('\n');
  await printTable(out, Object.entries(tables), [
    { title: 'TABLE', of: ([table]) => table },
    { title: 'READ', of: ([, { read }]) => read },
    { title: 'LOST', of: ([, { lost }]) => lost ?? 'unknown', style: (text) => (text === '0' ? null : 'red') },
  ]);
  if (repairs.length > 0) {
    await out.write('\n');
    await printTable(out, repairs, [
      { title: 'REPAIR', of: ({ what }) => what },
      { title: 'ROWS', of: ({ rows }) => rows },
    ]);
  }
  await printFindings(out, findings);
}
