// A workflow file that its caller sends, bundled or as it is. The owner's file of that path; its key begins with a slash, unlike the keys
// of files in the server's folder.

import { pathOfKey, sentKey } from '../../domain/files/file-mark.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { BundledCode, DeployedWorkflowFile, WholeWorkflow, WorkflowFileInput } from '../../domain/requests.ts';
import type { Bundled } from '../../runner/bundling/bundle.ts';
import { formatProblem } from '../../runner/bundling/bundle-options.ts';
import { refusalOf } from '../components/code-refusal.ts';
import type { FileDeployer } from './deploy.ts';

export interface UploadDeps {
  readonly deployer: Pick<FileDeployer, 'deployFile'>;
  /** Bundles a file that stands alone. */
  readonly bundle: (file: { namespace: string; code: string; file: string }, ownerId: string) => Promise<Bundled>;
  readonly getWorkflow: (ownerId: string, id: string) => Promise<WholeWorkflow>;
}

export function createFileUploads({ deployer, getWorkflow, bundle: bundleOne }: UploadDeps) {
  async function deployFile(ownerId: string, input: WorkflowFileInput): Promise<DeployedWorkflowFile> {
    const { path, project, source, env, hasUniqueName } = input;
    const { bundle, sourceMap } = input.bundled ?? (await bundledHere(ownerId, path, source));
    const deployed = await deployer.deployFile(ownerId, {
      key: sentKey(path),
      project,
      source,
      bundle,
      sourceMap,
      env,
      hasUniqueName,
    });
    if (deployed.kind !== 'refused') {
      return { result: deployed.kind, whole: await getWorkflow(ownerId, deployed.workflowId) };
    }
    if (deployed.refusal) throw deployed.refusal;
    const problem = { ...deployed.problem, file: pathOfKey(deployed.problem.file) };
    const { text: message, ...place } = problem;
    throw new Refusal('code_invalid', formatProblem(problem), {
      errors: [{ parameter: input.bundled ? 'bundle' : 'source', message, ...place }],
    });
  }

  /** Throws `Refusal` (code_invalid). */
  async function bundledHere(ownerId: string, path: string, source: string): Promise<BundledCode> {
    const bundled = await bundleOne({ namespace: 'workflow', code: source, file: path }, ownerId);
    if (!bundled.ok) throw refusalOf(bundled.problems, () => 'source');
    return { bundle: bundled.bundle, sourceMap: bundled.sourceMap };
  }

  return { deployFile };
}
