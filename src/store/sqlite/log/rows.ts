// Rows of emissions; the flags of an emission are bits of one number.

import type { Emission, NewEmission } from '../../../domain/emission.ts';
import { EMISSION_COLUMNS, emissionCells, FLAG_BITS, LATER_COLUMNS } from '../../rows/emission-cells.ts';
import { toEmission } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Connection, Value } from '../database.ts';

type Flag = keyof typeof FLAG_BITS;
const FLAGS = Object.keys(FLAG_BITS) as readonly Flag[];

interface Insert {
  readonly columns: readonly string[];
  readonly sql: string;
}

function insertInto(table: string, of: object): Insert {
  const columns = Object.keys(of).filter((column) => !Object.hasOwn(FLAG_BITS, column));
  const marks = columns.map(() => '?').join(', ');
  return { columns, sql: `INSERT INTO ${table} (flags, ${columns.join(', ')}) VALUES (?, ${marks})` };
}

const EMISSION = insertInto('emissions', EMISSION_COLUMNS);
const LATER = insertInto('later_emissions', LATER_COLUMNS);

type Cells = Readonly<Record<string, Value | boolean>>;

export function insertEmission(writer: Connection, emission: Emission): void {
  insert(writer, EMISSION, emissionCells(emission));
}

export function insertLater(writer: Connection, emission: NewEmission & { entry: number }, dueAtMs: number): void {
  insert(writer, LATER, { ...emissionCells(emission), due_at_ms: dueAtMs });
}

function insert(writer: Connection, { sql, columns }: Insert, cells: Cells): void {
  let flags = 0;
  for (const flag of FLAGS) if (cells[flag]) flags |= FLAG_BITS[flag];
  writer.run(sql, flags, ...columns.map((column) => cells[column] as Value));
}

/** Reads the emission of a row, within the transaction that writes. */
export function readEmission(core: Core, entry: number): Emission {
  const row = core.writer.get('SELECT * FROM emissions WHERE entry = ?', entry);
  if (!row) throw new Error(`emission ${entry} is gone`);
  return toEmission(row, core);
}
