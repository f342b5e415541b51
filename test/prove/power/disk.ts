// A disk whose power can be cut: a file system in a file, on a loop device, mounted where nobody else sees it. A cut is
// what the kernel has for it: from one moment on the file system writes nothing more, neither pages nor its own journal.
// What was not written through by then is gone, and the next mount replays the journal, as after a power cut.

import { execFile } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const BYTES = 512 * 1024 * 1024;
/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: not even the journal is flushed. Node has no ioctl. */
const CUT = 'my $how = pack("L", 2); open(my $d, "<", $ARGV[0]) or die "$!"; ioctl($d, 0x8004587d, $how) or die "$!";';

export class Disk {
  readonly path: string;
  readonly #image: string;
  #device: string | null = null;

  private constructor(folder: string) {
    this.path = join(folder, 'mounted');
    this.#image = join(folder, 'disk.img');
  }

  /** An empty one. */
  static async make(folder: string): Promise<Disk> {
    const disk = new Disk(folder);
    mkdirSync(disk.path, { recursive: true });
    writeFileSync(disk.#image, '');
    truncateSync(disk.#image, BYTES);
    await run('mkfs.ext4', ['-q', '-F', disk.#image]);
    return disk;
  }

  async mount(): Promise<void> {
    // Around this machine's page cache, so that what the file has is what was written.
    const { stdout } = await run('losetup', ['-f', '--show', '--direct-io=on', this.#image]);
    this.#device = stdout.trim();
    await run('mount', ['-t', 'ext4', this.#device, this.path]);
  }

  /** Whoever has files open there gets errors from now on. */
  async cutPower(): Promise<void> {
    await run('perl', ['-e', CUT, this.path]);
  }

  /** Goes on with a copy of what was written: nothing that the device's own cache still has comes along. */
  async takeCopy(): Promise<void> {
    await run('cp', ['--sparse=always', this.#image, `${this.#image}.copy`]);
    await this.unmount();
    await run('mv', [`${this.#image}.copy`, this.#image]);
  }

  async unmount(): Promise<void> {
    const device = this.#device;
    if (device === null) return;
    this.#device = null;
    await run('umount', ['-l', this.path]).catch(() => undefined);
    await run('losetup', ['-d', device]);
  }
}
