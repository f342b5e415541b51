// How much memory a child process uses, whatever for. `memory_mb` bounds V8's heap by a flag; Buffers, native memory and
// the memory of WebAssembly lie outside of it, and are looked at here. (Rejected: a resource limit of the system. Node
// reserves half a gigabyte of address space before it runs anything, and RLIMIT_DATA counts that.)

import { readFileSync } from 'node:fs';

/** A look costs 20 µs a process. In between, code can take some 100 MB more than it may. */
export const MEMORY_LOOK_MS = 50;
/** What Node needs besides the old generation of the heap: young generation, compiled code, events on their way. */
const NODE_MB = 96;
const KIB_PER_MB = 1024;

/** Whether a process uses more than `memoryMb` and what Node needs. False where the system does not tell (no Linux). */
export function isOverMemory(pid: number, memoryMb: number): boolean {
  const usedKib = anonymousKib(pid);
  return usedKib !== null && usedKib > (memoryMb + NODE_MB) * KIB_PER_MB;
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
