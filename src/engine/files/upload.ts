// A workflow file that its caller has bundled. The owner's file of that path; its key begins with a slash, unlike the keys
// of files in the server's folder.

import { Refusal } from '../../domain/fault.ts';
import type { DeployedWorkflowFile, WholeWorkflow, WorkflowFileInput } from '../../domain/requests.ts';
import { formatProblem } from '../../runner/bundling/bundle-options.ts';
import type { FileDeployer } from './deploy.ts';

export interface UploadDeps {
  readonly deployer: Pick<FileDeployer, 'deployFile'>;
  readonly getWorkflow: (ownerId: string, id: string) => Promise<WholeWorkflow>;
}

const UPLOADED = '/';

/** Returns whether a caller sent the file. */
export function isUploaded(key: string): boolean {
  return key.startsWith(UPLOADED);
}

export function createFileUploads({ deployer, getWorkflow }: UploadDeps) {
  async function deployFile(ownerId: string, input: WorkflowFileInput): Promise<DeployedWorkflowFile> {
    const { path, source, bundle, sourceMap, env } = input;
    const deployed = await deployer.deployFile(ownerId, {
      key: UPLOADED + path,
      source,
      bundle,
      sourceMap,
      env,
    });
    if (deployed.kind !== 'refused') {
      return { result: deployed.kind, whole: await getWorkflow(ownerId, deployed.workflowId) };
    }
    if (deployed.refusal) throw deployed.refusal;
    const problem = { ...deployed.problem, file: deployed.problem.file.replace(UPLOADED, '') };
    const { text: message, ...place } = problem;
    throw new Refusal('code_invalid', formatProblem(problem), { errors: [{ parameter: 'bundle', message, ...place }] });
  }

  return { deployFile };
}
