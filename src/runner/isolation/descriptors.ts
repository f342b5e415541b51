// Finds the descriptors beyond 0 to 2 that this process inherited, and that its own children would inherit: a socket
// from systemd, a pipe of a shell. Node opens its own descriptors with close-on-exec.

import { readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;

/** Returns them; call it before anything is started. Empty where the system does not tell (no Linux). */
export function inheritedDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((descriptor) => descriptor > 2 && isInherited(descriptor));
  } catch {
    return [];
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // it was the descriptor for reading the list
  }
}
