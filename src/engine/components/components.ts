// Components in files of the server: those of the operator's folder (ERRAND_COMPONENTS_DIR), by path, and the built-in ones
// (sources/), by name.

import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PREFIX } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { markedCode, type Origin } from '../../domain/origin.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { BundledCode } from '../../domain/requests.ts';
import { type FileSource, readSource } from '../../runner/bundling/bundle.ts';
import type { Bundler } from '../../runner/bundling/bundler.ts';
import type { ComponentShape, Runner } from '../../runner/runner.ts';
import { refusalOf } from './code-refusal.ts';
import { checkPath, dirOf, filesAt, refuse } from './component-folder.ts';
import { unstoredDeployment } from './unstored-deployment.ts';

export interface ComponentDeps {
  readonly bundler: Bundler;
  readonly componentsDir: string | null;
  /** Where packages are added; null: nowhere. */
  readonly packagesDir: string | null;
  /** The folder is the caller's own: its files may import all that they name. */
  readonly isTrusted?: boolean;
  readonly runner: Pick<Runner, 'describe'>;
}

/** Bundled code. */
export interface ReadyCode extends BundledCode {
  /** As stored. */
  readonly code: string;
}

/** A built-in component. */
export interface ListedComponent {
  readonly key: string;
  readonly shape: ComponentShape;
}

/** The same place in the checkout and in the published package. */
const OURS = fileURLToPath(new URL('../../../sources/', import.meta.url));
/** The owner of a process that only describes components: it may share its user of the system with no owner. */
const OURS_OWNER = `${PREFIX.owner}errand`;
const KEY = /^[a-z0-9]+(-[a-z0-9]+)*$/;

export type Components = ReturnType<typeof createComponents>;

export function createComponents(deps: ComponentDeps) {
  const { bundler, componentsDir, packagesDir, isTrusted = false, runner } = deps;

  /** Throws `Refusal` (422) naming the parameter: the path is missing or outside the folder, or the code does not compile. */
  async function fromPath(path: string, at: { namespace: string; parameter: string }): Promise<ReadyCode> {
    const { namespace, parameter } = at;
    const dir = await dirOf(componentsDir, parameter);
    await checkPath(dir, path, parameter);
    return await ready({ namespace, dir, path }, { kind: 'component_path', name: path }, parameter);
  }

  async function fromKey(key: string): Promise<ReadyCode> {
    const keys = await listKeys();
    if (!keys.includes(key)) {
      refuse('component', `names ${JSON.stringify(key)}, which is not a component; available: ${keys.join(', ')}`);
    }
    return await ready(fileOf(key), { kind: 'component', name: key }, 'component');
  }

  async function ready(file: FileSource, origin: Origin, parameter: string): Promise<ReadyCode> {
    const bundled = await bundler.bundle(file);
    if (!bundled.ok) throw refusalOf(bundled.problems, () => parameter);
    const source = await readSource(file);
    if (Buffer.byteLength(source) > LIMITS.codeBytes) {
      refuse(parameter, `the file has more than the ${LIMITS.codeBytes} bytes that are taken`);
    }
    const { bundle, sourceMap } = bundled;
    return { code: markedCode(origin, digestOf(bundled), source), bundle, sourceMap };
  }

  /** Returns all, sorted by name. Each is loaded in a process of its own, like any component. */
  async function listComponents(): Promise<ListedComponent[]> {
    return await Promise.all((await listKeys()).map(describe));
  }

  /** Throws `Refusal` (not_found). */
  async function getComponent(key: string): Promise<ListedComponent> {
    if (!(await listKeys()).includes(key)) throw new Refusal('not_found', `there is no component ${key}`);
    return await describe(key);
  }

  async function describe(key: string): Promise<ListedComponent> {
    const { code, bundle, sourceMap } = await fromKey(key);
    const { namespace } = fileOf(key);
    const deployment = unstoredDeployment({ ownerId: OURS_OWNER, namespace, code, bundle, sourceMap });
    const described = await runner.describe(deployment);
    if (!described.ok) throw new Error(`component ${key} cannot be loaded: ${described.message}`);
    return { key, shape: described.shape };
  }

  /** Returns the files that the path names (`filesAt`), sorted. Throws `Refusal` (422) naming `component_path`. */
  async function filesOf(path: string): Promise<readonly FileSource[]> {
    const parameter = 'component_path';
    const dir = await dirOf(componentsDir, parameter);
    const paths = await filesAt(dir, path, parameter);
    return paths.map((file) => ({ namespace: 'source', dir, path: file, ...(isTrusted ? { isTrusted } : {}) }));
  }

  return { bundle: bundler.bundle, packagesDir, filesOf, fromPath, fromKey, listComponents, getComponent };
}

/** Hashes all deployed code. */
export function digestOf({ bundle, sourceMap }: BundledCode): string {
  return createHash('sha256')
    .update(JSON.stringify([bundle, sourceMap]))
    .digest('hex');
}

function fileOf(key: string): FileSource {
  return { namespace: 'source', dir: OURS, path: `${key}/${key}.mjs`, isTrusted: true };
}

async function listKeys(): Promise<string[]> {
  const files = await readdir(OURS, { recursive: true });
  return files
    .map((file) => file.split(sep))
    .filter(([key = '', file]) => KEY.test(key) && file === `${key}.mjs`)
    .map(([key = '']) => key)
    .sort();
}
