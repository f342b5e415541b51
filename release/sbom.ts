// Writes sbom.cdx.json, the CycloneDX list of what is shipped, as npm makes it from a lockfile; and checks that nothing is
// missing there: each package with its version, its licence and the hash of what is downloaded. The argument is where to write it.
//
// npm is given the lockfile of the package (shrinkwrap.ts). (Rejected: `npm sbom --omit dev` in the repository. It leaves out
// what is shipped and also needed by what is not: nodemailer and six others.)

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, readLock, type Shipped, shippedIn } from './shipped.ts';
import { inShippedFolder } from './shrinkwrap.ts';

const FILE = 'sbom.cdx.json';
const MAX_PRINTED_BYTES = 64 * 1024 * 1024;
const ARGUMENTS = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];

export interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly purl?: string;
    readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
    readonly licenses?: readonly object[];
  }[];
}

export async function makeSbom(): Promise<Sbom> {
  return await inShippedFolder(async (cwd) => {
    const { stdout } = await promisify(execFile)('npm', ARGUMENTS, { cwd, maxBuffer: MAX_PRINTED_BYTES });
    return JSON.parse(stdout) as Sbom;
  });
}

/** What is missing in it, or there although it is not shipped; empty: it is right. */
export function faultsOf({ bomFormat, components }: Sbom, shipped: readonly Shipped[]): string[] {
  if (bomFormat !== 'CycloneDX') return [`it is ${bomFormat} and not CycloneDX`];
  const listed = new Map(components.map((one) => [`${one.name}@${one.version}`, one]));
  const wanted = new Set(shipped.map(({ name, version }) => `${name}@${version}`));
  return [
    ...[...wanted].filter((one) => !listed.has(one)).map((one) => `${one} is missing`),
    ...[...listed.keys()].filter((one) => !wanted.has(one)).map((one) => `${one} is not shipped`),
    ...[...listed].flatMap(([one, { purl, hashes = [], licenses = [] }]) => [
      ...(purl?.startsWith('pkg:npm/') ? [] : [`${one} has no purl`]),
      ...(hashes.some(({ alg }) => alg === 'SHA-512') ? [] : [`${one} has no SHA-512`]),
      ...(licenses.length > 0 ? [] : [`${one} has no licence`]),
    ]),
  ];
}

async function main(folder: string): Promise<void> {
  const sbom = await makeSbom();
  const faults = faultsOf(sbom, shippedIn(await readLock()));
  if (faults.length > 0) throw new Error(`the SBOM is wrong: ${faults.join('; ')}`);
  await writeFile(join(folder, FILE), `${JSON.stringify(sbom, null, 2)}\n`);
  console.log(`${FILE}: ${sbom.components.length} packages`);
}

if (import.meta.main) await main(process.argv[2] ?? ROOT);
