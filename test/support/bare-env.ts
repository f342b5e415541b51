// The environment of a process that a test starts: none of ours but what finds Node, and where compiled code is kept, so
// that not each of hundreds of servers strips the types of the same files.

const { PATH = '', NODE_COMPILE_CACHE } = process.env;

export const BARE_ENV: Readonly<Record<string, string>> =
  NODE_COMPILE_CACHE === undefined ? { PATH } : { PATH, NODE_COMPILE_CACHE };
