// A folder of workflow files for a test, and what its server made of them.

import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Json } from '../client.ts';
import type { Errand } from '../errand.ts';
import { until } from '../wait.ts';

export type Files = Readonly<Record<string, string>>;

export interface WorkflowFiles extends AsyncDisposable {
  readonly path: string;
  /** Appears whole, as editors do it. */
  write(files: Files): Promise<void>;
  remove(path: string): Promise<void>;
  /** New times, same text. */
  touch(path: string): Promise<void>;
}

export async function createWorkflowFiles(files: Files): Promise<WorkflowFiles> {
  const path = await mkdtemp(join(tmpdir(), 'errand-workflows-'));
  const write = async (given: Files): Promise<void> => {
    for (const [name, text] of Object.entries(given)) {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(`${file}.tmp`, text);
      await rename(`${file}.tmp`, file);
    }
  };
  await write(files);
  return {
    path,
    write,
    remove: (name) => rm(join(path, name), { recursive: true }),
    touch: (name) => utimes(join(path, name), new Date(), new Date()),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** A file with one step and an HTTP trigger that answers its caller. */
export function answering(name: string, body: string, head = ''): string {
  return `import { defineWorkflow, http } from 'errand/workflow';
${head}
export default defineWorkflow({
  name: ${JSON.stringify(name)},
  triggers: [http({ custom_response: true })],
  steps: (flow) => flow.step('answer', async ({ $, event }) => { await $.respond({ body: ${body} }); }),
});
`;
}

/** The workflow of that name, whole; undefined when there is none. */
export async function named(errand: Errand, name: string): Promise<Json | undefined> {
  const { data } = await errand.client.get(`/v1/workflows?name=${encodeURIComponent(name)}`);
  return data.length === 0 ? undefined : (await errand.client.get(`/v1/workflows/${data[0].id}`)).data;
}

/** What a workflow answers its caller now, as text. */
export async function call(workflow: Json, body: unknown = null): Promise<string> {
  const answer = await fetch(workflow.triggers[0].endpoint_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return `${answer.status} ${await answer.text()}`;
}

/** Waits until a workflow answers so. */
export async function answers(workflow: Json, text: string): Promise<void> {
  await until(`the workflow answers ${text}`, async () => (await call(workflow)) === text);
}

export async function deploymentsOf(errand: Errand, workflow: Json): Promise<Json[]> {
  return (await errand.client.get(`/v1/workflows/${workflow.id}/deployments`)).data;
}

/** Waits until the server has logged a line about a file. */
export async function logged(errand: Errand, name: RegExp, file: string): Promise<Json> {
  return until(`a line ${name} about ${file}`, () => {
    const line = errand.logged.find((one) => name.test(one.name) && (one.fields as Json).file === file);
    return line?.fields;
  });
}
