// Rows of emissions and deliveries; the flags of an emission are bits of one number.

import type { Emission, NewEmission } from '../../../domain/emission.ts';
import type { NewDelivery } from '../../log/port.ts';
import { EMISSION_COLUMNS, emissionCells, FLAG_BITS, LATER_COLUMNS } from '../../rows/emission-cells.ts';
import { toEmission } from '../../rows/log-rows.ts';
import type { Core } from '../core.ts';
import type { Connection, Value } from '../database.ts';

type Flag = keyof typeof FLAG_BITS;
const FLAGS = Object.keys(FLAG_BITS) as readonly Flag[];

type Cells = Readonly<Record<string, Value | boolean>>;

function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

const COLUMNS = Object.keys(EMISSION_COLUMNS);
/** The flags are next to each other. */
const FLAGS_AT = COLUMNS.indexOf(FLAGS[0] as Flag);
const EMISSION = insertInto('emissions', COLUMNS.toSpliced(FLAGS_AT, FLAGS.length, 'flags'));
const PLAIN_LATER = Object.keys(LATER_COLUMNS).filter((column) => !Object.hasOwn(FLAG_BITS, column));
const LATER = insertInto('later_emissions', ['flags', ...PLAIN_LATER]);

/**
 * Inserts an emission. The hot path: the cells are in the order of the columns. To look up each by its name took a microsecond
 * of an event's 40.
 */
export function insertEmission(writer: Connection, emission: Emission): void {
  const cells = emissionCells(emission);
  const values: unknown[] = Object.values(cells);
  values.splice(FLAGS_AT, FLAGS.length, flagsOf(cells));
  writer.run(EMISSION, ...(values as Value[]));
}

export function insertDelivery(
  { writer, boot }: Pick<Core, 'writer' | 'boot'>,
  made: NewDelivery,
  nowMs: number,
): void {
  const { emission, state } = made;
  writer.run(
    `INSERT INTO deliveries (delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made,
      fence, boot, due_at_ms) VALUES (?,?,?,?,?,?,?,?,0,?,?,?)`,
    made.delivery,
    emission.ownerId,
    made.kind,
    made.listenerId,
    made.subscriptionId,
    made.via,
    emission.entry,
    state,
    state === 'sending' ? 1 : 0,
    boot,
    state === 'pending' ? nowMs : null,
  );
}

export function insertLater(writer: Connection, emission: NewEmission & { entry: number }, dueAtMs: number): void {
  const cells: Cells = { ...emissionCells(emission), due_at_ms: dueAtMs };
  writer.run(LATER, flagsOf(cells), ...PLAIN_LATER.map((column) => cells[column] as Value));
}

function flagsOf(cells: Cells): number {
  let flags = 0;
  for (const flag of FLAGS) if (cells[flag]) flags |= FLAG_BITS[flag];
  return flags;
}

/** Reads the emission of a row, within the transaction that writes. */
export function readEmission(core: Core, entry: number): Emission {
  const row = core.writer.get('SELECT * FROM emissions WHERE entry = ?', entry);
  if (!row) throw new Error(`emission ${entry} is gone`);
  return toEmission(row, core);
}
