// Samples how much memory a child process uses in all. `memory_mb` bounds V8's heap by a flag; Buffers, native memory
// and the memory of WebAssembly are outside of that bound, and are sampled here. (Rejected: a resource limit of the
// system. Node reserves half a gigabyte of address space before it runs anything, and RLIMIT_DATA counts that.)

import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** A sample costs 10 µs per process. Between two samples, code can exceed its memory by some 100 MB. */
export const MEMORY_SAMPLE_MS = 50;
/** What Node needs besides the old generation of the heap: young generation, compiled code, events in transit. */
const NODE_MB = 96;
const KIB_PER_MB = 1024;

/** Returns half of the memory of the machine or the container. */
export function defaultPoolMb(): number {
  const limit = process.constrainedMemory();
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.max(256, Math.floor(bytes / 2 / KIB_PER_MB / KIB_PER_MB));
}

/** Returns the bound of a process whose code has so much memory. */
export function processMb(memoryMb: number): number {
  return memoryMb + NODE_MB;
}

/** Returns whether a process uses more than `memoryMb` and what Node needs. */
export function isOverMemory(usedMb: number, memoryMb: number): boolean {
  return usedMb > processMb(memoryMb);
}

/** Returns what a process uses; null where the system does not tell (no Linux), and for a process that is gone. */
export function usedMemoryMb(pid: number): number | null {
  const usedKib = anonymousKib(pid);
  return usedKib === null ? null : usedKib / KIB_PER_MB;
}

/** Returns the resident memory that no file backs. */
function anonymousKib(pid: number): number | null {
  try {
    // As UTF-8, which Node reads without a Buffer of 64 KiB: 8 µs instead of 14.
    const found = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found ? Number(found[1]) : null;
  } catch {
    return null;
  }
}
