// A source component that its caller has bundled (`errand deploy`). The owner's source of that path; its id is derived from
// both, as with workflow files (files/identity.ts).

import { markedCode, originOf, plainCode } from '../../domain/origin.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { DeployedSourceFile, SourceFileInput, SourceInput, WholeSource } from '../../domain/requests.ts';
import type { ComponentShape, DescribeResult, Runner } from '../../runner/runner.ts';
import type { Store } from '../../store/contract/store.ts';
import { COMMON } from '../components/check.ts';
import { digestOf } from '../components/components.ts';
import { unstoredDeployment } from '../components/unstored-deployment.ts';
import { sourceIdOf } from '../files/identity.ts';
import { refuseOtherProject, refuseStranger } from '../files/twins.ts';

export interface SourceFileDeps {
  readonly store: Pick<Store, 'getSource'>;
  readonly runner: Pick<Runner, 'describe'>;
  readonly sources: {
    getSource(ownerId: string, id: string): Promise<WholeSource>;
    createSource(ownerId: string, input: SourceInput): Promise<WholeSource>;
    updateSource(ownerId: string, id: string, input: SourceInput): Promise<WholeSource>;
  };
}

export function createSourceFiles({ store, runner, sources }: SourceFileDeps) {
  /** Throws `Refusal` as the creation or change of a source does. */
  async function deploySourceFile(ownerId: string, input: SourceFileInput): Promise<DeployedSourceFile> {
    const { path, source, bundle, sourceMap, name, configuredProps, fromFolder, isDryRun } = input;
    if (fromFolder && !(await isDeployable(ownerId, input))) return { result: 'skipped', whole: null };
    const id = sourceIdOf(ownerId, path);
    const existing = await store.getSource(ownerId, id);
    const before = existing ? originOf(existing.componentCode) : null;
    const project = input.project ?? before?.project ?? null;
    if (before) refuseOtherProject({ key: path, project: before.project ?? null }, project);
    const code = markedCode({ kind: 'file', name: path, project }, digestOf({ bundle, sourceMap }), source);
    const asked = { name, configuredProps, ready: { id, code, bundle, sourceMap } };
    if (isDryRun && !existing) return { result: 'made', whole: null };
    if (!existing) return { result: 'made', whole: await sources.createSource(ownerId, asked) };
    // A source that is being created may still be undone: a change waits for the creation.
    const isDone = existing.settings.inHooks !== true;
    const isSame = isDone && existing.componentCode === code && configuredProps === undefined;
    if (isSame && (name === undefined || name === existing.name)) {
      return { result: 'same', whole: await sources.getSource(ownerId, id) };
    }
    const had = { source: plainCode(existing.componentCode), project: before?.project ?? null };
    if (before && had.source !== source && (had.project === null || input.project === null)) {
      const described = await describe(ownerId, input);
      const key = described.ok ? described.shape.key : null;
      refuseStranger({ path, id, name: existing.name, ...had, asked: input.project, called: key ?? undefined });
    }
    if (isDryRun) return { result: 'changed', whole: null };
    try {
      return { result: 'changed', whole: await sources.updateSource(ownerId, id, asked) };
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'not_found') throw error;
      return { result: 'made', whole: await sources.createSource(ownerId, asked) };
    }
  }

  /**
   * Returns whether a file's default export is a source. Apps, actions and shared code have default exports, too. Code that
   * cannot be loaded is refused as always. Throws `Refusal` for what is probably meant to be a workflow.
   */
  async function isDeployable(ownerId: string, input: SourceFileInput): Promise<boolean> {
    const described = await describe(ownerId, input);
    if (!described.ok) return true;
    const { shape } = described;
    if ((shape.type === 'function' || shape.hasSteps) && !COMMON.test(input.path)) throw noWorkflow(shape);
    return shape.type === 'source' && (shape.key !== null || (await isKnown(ownerId, input)));
  }

  /** Returns whether the project has deployed a source from this file: as a single file, also without a key. */
  async function isKnown(ownerId: string, { path, project }: SourceFileInput): Promise<boolean> {
    const existing = await store.getSource(ownerId, sourceIdOf(ownerId, path));
    const origin = existing ? originOf(existing.componentCode) : null;
    return origin?.kind === 'file' && (origin.project ?? null) === project;
  }

  /** Loads the file in a process of its own. */
  async function describe(ownerId: string, { bundle, sourceMap }: SourceFileInput): Promise<DescribeResult> {
    return runner.describe(unstoredDeployment({ ownerId, namespace: 'source', bundle, sourceMap }));
  }

  return { deploySourceFile };
}

/** Refuses it as the watched folder does. */
function noWorkflow(shape: ComponentShape): Refusal {
  const message = `the default export is ${shape.hasSteps ? 'an object' : 'a function'}, and no workflow: a workflow file exports what defineWorkflow returns; when the file is for others to import, let its name begin with _`;
  return new Refusal('impossible', message, { errors: [{ parameter: 'bundle', message }] });
}
