// The first page of a database file: reads its header, and replaces a damaged one.
// https://sqlite.org/fileformat2.html#the_database_header

import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';

export const PAGE_BYTES = 4096;
const HEADER_BYTES = 100;
const MAGIC = Buffer.from('SQLite format 3\0', 'latin1');
/** Where the header says that there are pointer maps, and that free pages are given back when that is asked for. */
const AUTO_VACUUM = [52, 64];
/** A leaf, or an inner page, of a table: the schema. */
const TABLE_PAGES = new Set([0x0d, 0x05]);

export interface FileFacts {
  readonly bytes: number;
  readonly isHeaderWhole: boolean;
  /** Whether the list of tables begins after the header. */
  readonly isSchemaThere: boolean;
  /** By the header; null: the header is damaged. */
  readonly pages: number | null;
  readonly schemaVersion: number | null;
}

export function readHeader(path: string): FileFacts {
  const descriptor = openSync(path, 'r');
  try {
    const { size: bytes } = fstatSync(descriptor);
    const page = Buffer.alloc(PAGE_BYTES);
    readSync(descriptor, page, 0, PAGE_BYTES, 0);
    // Every store has this page size, and is in WAL mode.
    const isHeaderWhole =
      page.subarray(0, MAGIC.length).equals(MAGIC) &&
      page.readUInt16BE(16) === PAGE_BYTES &&
      page[18] === 2 &&
      page[19] === 2;
    return {
      bytes,
      isHeaderWhole,
      isSchemaThere: TABLE_PAGES.has(page[HEADER_BYTES] as number),
      pages: isHeaderWhole ? page.readUInt32BE(28) : null,
      schemaVersion: isHeaderWhole ? page.readUInt32BE(60) : null,
    };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Gives a copy of a damaged file what SQLite needs before it reads any table: a header, and as many pages as that header
 * says. `template`: a new store of this program, whose tables begin on the same pages. No page is marked as free, and none
 * as a pointer map: reading needs none, and those pages may be damaged, too.
 */
export function repairHeader(path: string, template: string): void {
  const { bytes, isHeaderWhole, isSchemaThere, pages } = readHeader(path);
  const descriptor = openSync(path, 'r+');
  try {
    const there = Math.ceil(bytes / PAGE_BYTES);
    if (!isHeaderWhole) {
      const page = firstPageOf(template);
      page.writeUInt32BE(there, 28);
      page.fill(0, 32, 40);
      page.copy(page, 92, 24, 28);
      writeSync(descriptor, page, 0, isSchemaThere ? HEADER_BYTES : PAGE_BYTES, 0);
    }
    for (const place of AUTO_VACUUM) writeSync(descriptor, Buffer.alloc(4), 0, 4, place);
    const wanted = Math.max(there, Math.min(pages ?? 0, 4 * there));
    if (wanted * PAGE_BYTES > bytes) {
      writeSync(descriptor, Buffer.alloc(1), 0, 1, wanted * PAGE_BYTES - 1);
    }
  } finally {
    closeSync(descriptor);
  }
}

function firstPageOf(path: string): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const page = Buffer.alloc(PAGE_BYTES);
    readSync(descriptor, page, 0, PAGE_BYTES, 0);
    return page;
  } finally {
    closeSync(descriptor);
  }
}
