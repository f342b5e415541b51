// A disk whose power can be cut, and that can be filled up: a file system in a file, on a loop device, to be mounted where no
// other process sees it (own-mounts.ts). A cut is what the kernel has for it: from one moment on the file system writes nothing more, neither pages nor its own journal.
// What was not written through by then is gone, and the next mount replays the journal, as after a power cut.

import { execFile } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MB = 1024 * 1024;
const USUAL_MB = 512;
const PAGE_BYTES = 4096;
/**
 * EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: not even the journal is flushed. Node has no ioctl. Before and after
 * it, the time by CLOCK_MONOTONIC, which is that of Node's hrtime.
 */
const CUT = `use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
  my $how = pack("L", 2);
  open(my $d, "<", $ARGV[0]) or die "$!";
  my $begun = clock_gettime(CLOCK_MONOTONIC);
  ioctl($d, 0x8004587d, $how) or die "$!";
  my $over = clock_gettime(CLOCK_MONOTONIC);
  printf("%.9f %.9f", $begun, $over);`;

/** Nanoseconds of CLOCK_MONOTONIC: right before and right after the call that cuts. */
export interface Cut {
  readonly begunAt: bigint;
  readonly overAt: bigint;
}

export class Disk {
  readonly path: string;
  readonly #image: string;
  readonly #ballast: string;
  #pieces = 0;
  #device: string | null = null;

  private constructor(folder: string) {
    this.path = join(folder, 'mounted');
    this.#image = join(folder, 'disk.img');
    this.#ballast = join(this.path, 'ballast');
  }

  /** An empty one. */
  static async make(folder: string, sizeMb = USUAL_MB): Promise<Disk> {
    const disk = new Disk(folder);
    mkdirSync(disk.path, { recursive: true });
    writeFileSync(disk.#image, '');
    truncateSync(disk.#image, sizeMb * MB);
    // Nothing is kept back for root, whose processes would not find it full.
    await run('mkfs.ext4', ['-q', '-F', '-m', '0', disk.#image]);
    return disk;
  }

  async mount(): Promise<void> {
    // Around this machine's page cache, so that what the file has is what was written.
    const { stdout } = await run('losetup', ['-f', '--show', '--direct-io=on', this.#image]);
    this.#device = stdout.trim();
    await run('mount', ['-t', 'ext4', this.#device, this.path]);
  }

  /** Processes that have files open there get errors from now on. */
  async cutPower(): Promise<Cut> {
    const { stdout } = await run('perl', ['-e', CUT, this.path]);
    const [begunAt, overAt] = stdout.split(' ').map((text) => BigInt(text.replace('.', '')));
    if (begunAt === undefined || overAt === undefined) throw new Error(`the cut said: ${stdout}`);
    return { begunAt, overAt };
  }

  /** Goes on with a copy of what was written: nothing that the device's own cache still has comes along. */
  async takeCopy(): Promise<void> {
    await run('cp', ['--sparse=always', this.#image, `${this.#image}.copy`]);
    await this.unmount();
    await run('mv', [`${this.#image}.copy`, this.#image]);
  }

  /** Takes all room that there is, without writing it. */
  async fill(): Promise<void> {
    for (;;) {
      const { bavail, bsize } = await statfs(this.path);
      let bytes = bavail * bsize;
      // What the file system needs for itself is not told.
      while (bytes >= PAGE_BYTES && !(await this.#take(bytes))) bytes = Math.floor(bytes / 2);
      if (bytes < PAGE_BYTES) return;
    }
  }

  /** Gives it back. */
  async relieve(): Promise<void> {
    await rm(this.#ballast, { recursive: true, force: true });
  }

  async unmount(): Promise<void> {
    const device = this.#device;
    if (device === null) return;
    this.#device = null;
    await run('umount', ['-l', this.path]).catch(() => undefined);
    await run('losetup', ['-d', device]);
  }
  async #take(bytes: number): Promise<boolean> {
    mkdirSync(this.#ballast, { recursive: true });
    const piece = join(this.#ballast, String(this.#pieces++));
    const isTaken = await run('fallocate', ['-l', String(bytes), piece]).then(
      () => true,
      () => false,
    );
    if (!isTaken) await rm(piece, { force: true });
    return isTaken;
  }
}
