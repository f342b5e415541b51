// How much memory a child process uses, whatever for. `memory_mb` bounds V8's heap by a flag; Buffers, native memory and
// the memory of WebAssembly lie outside of it, and are looked at here. (Rejected: a resource limit of the system. Node
// reserves half a gigabyte of address space before it runs anything, and RLIMIT_DATA counts that.)

import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** A look costs 20 µs a process. In between, code can take some 100 MB more than it may. */
export const MEMORY_SAMPLE_MS = 50;
/** What Node needs besides the old generation of the heap: young generation, compiled code, events on their way. */
const NODE_MB = 96;
const KIB_PER_MB = 1024;

/** Half of what the machine, or the container, has. */
export function defaultPoolMb(): number {
  const limit = process.constrainedMemory();
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.max(256, Math.floor(bytes / 2 / KIB_PER_MB / KIB_PER_MB));
}

/** What a process may take that runs code with so much memory. */
export function processMb(memoryMb: number): number {
  return memoryMb + NODE_MB;
}

/** Whether a process that uses so much uses more than `memoryMb` and what Node needs. */
export function isOverMemory(usedMb: number, memoryMb: number): boolean {
  return usedMb > processMb(memoryMb);
}

/** Null where the system does not tell (no Linux), and of a process that is gone. */
export function usedMemoryMb(pid: number): number | null {
  const usedKib = anonymousKib(pid);
  return usedKib === null ? null : usedKib / KIB_PER_MB;
}

/** Resident and not backed by a file. */
function anonymousKib(pid: number): number | null {
  try {
    const found = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    return found ? Number(found[1]) : null;
  } catch {
    return null;
  }
}
