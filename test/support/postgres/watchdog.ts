// What takes a server down when the test's process is gone, however it ended. A handler in the process would not see a
// SIGKILL, and Postgres itself never looks after its parent. So a shell per server waits at a pipe from the process: the
// system closes it with the process, and then the server is stopped and its folder removed. Disposing closes the same
// pipe, so this way is taken every time, and not only when something went wrong.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

/** $1: the folder; $2: where a file system of its own is mounted, or nothing. Each line names the process to stop, or 0. */
const SCRIPT = `
pid=0
while read -r line; do pid=$line; done
if [ "$pid" != 0 ] && kill -QUIT "$pid"; then
  tries=0
  # Its last act is to remove that file; as a process it may stay until somebody waits for it.
  while [ -e "$1/postmaster.pid" ] && kill -0 "$pid" && [ "$tries" -lt 600 ]; do tries=$((tries + 1)); sleep 0.05; done
  # On a busy machine it takes its time, and must not lose its folder while it runs.
  [ -e "$1/postmaster.pid" ] && kill -KILL "$pid" && sleep 1
fi
# A killed server leaves a key in shared memory, which only its next start would take away.
key=$(awk 'NR == 7 { print $2 }' "$1/postmaster.pid") && [ -n "$key" ] && ipcrm -m "$key"
[ -n "$2" ] && umount "$2"
rm -rf "$1" $2
`;

export class Watchdog {
  readonly #shell: ChildProcess;

  constructor(folder: string, mount = '') {
    // Detached: Ctrl+C in a terminal goes to the test alone, and the shell outlives it.
    this.#shell = spawn('sh', ['-c', SCRIPT, 'watchdog', folder, mount], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    this.#shell.unref();
    (this.#shell.stdin as Socket).unref();
  }

  /** From now on that process is the server; null: none is running. */
  watch(pid: number | null): void {
    if (this.#shell.stdin?.writable) this.#shell.stdin.write(`${pid ?? 0}\n`);
  }

  /** Resolves when the folder is gone. May be called twice. */
  async end(): Promise<void> {
    if (this.#shell.exitCode !== null || this.#shell.signalCode !== null) return;
    this.#shell.ref();
    const gone = once(this.#shell, 'exit');
    this.#shell.stdin?.end();
    await gone;
  }
}
