// errand deploy PATH: bundles a workflow file, or a folder of them, on this machine, and sends it to a server.

import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { Command } from 'commander';
import { type Api, CliError } from './api.ts';

export type Bundled =
  | { readonly kind: 'workflow'; readonly bundle: string; readonly sourceMap: string }
  | { readonly kind: 'module' }
  | { readonly kind: 'broken'; readonly problems: readonly string[] };

export interface DeployDeps {
  /** The server that is meant. Throws `CliError` when there is none. */
  readonly api: (url: string | null) => Promise<Api>;
  /** Paths of the files in a folder that may be workflows, with slashes. */
  readonly list: (dir: string) => Promise<readonly string[]>;
  readonly bundle: (file: { dir: string; path: string }) => Promise<Bundled>;
  readonly print: (value: unknown) => void;
  readonly complain: (line: string) => void;
}

interface Deployed {
  readonly result: string;
  readonly workflow: { readonly id: string; readonly triggers: readonly { readonly endpoint_url?: string }[] };
}

export function addDeploy(program: Command, deps: DeployDeps): void {
  program
    .command('deploy <path>')
    .description('bundle a workflow file, or all in a folder, and deploy it; the same path is the same workflow')
    .option('--url <url>', 'the server; none: the one that runs on the data dir. ERRAND_API_KEY has the key')
    .action(async (given: string, { url }: { url?: string }) => {
      const { dir, paths } = await find(deps, given);
      const api = await deps.api(url?.replace(/\/+$/, '') ?? null);
      let failed = 0;
      for (const path of paths) {
        try {
          await deploy(deps, api, { dir, path });
        } catch (error) {
          if (!(error instanceof CliError)) throw error;
          failed++;
          deps.complain(`${path}: ${error.message}`);
        }
      }
      if (failed > 0) process.exitCode = 1;
    });
}

async function find({ list }: DeployDeps, given: string): Promise<{ dir: string; paths: readonly string[] }> {
  const path = resolve(given);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new CliError(`there is no file or folder ${path}`);
  if (!found.isDirectory()) return { dir: dirname(path), paths: [basename(path)] };
  return { dir: path, paths: [...(await list(path))].sort() };
}

async function deploy(deps: DeployDeps, api: Api, { dir, path }: { dir: string; path: string }): Promise<void> {
  const bundled = await deps.bundle({ dir, path });
  if (bundled.kind === 'module') return;
  if (bundled.kind === 'broken') throw new CliError(bundled.problems.join('; '));
  const { bundle, sourceMap } = bundled;
  const source = await readFile(join(dir, path), 'utf8');
  const env = parseEnv(await readFile(join(dir, '.env'), 'utf8').catch(() => ''));
  const body = { path, source, bundle, source_map: sourceMap, env };
  const { result, workflow } = (await api.call('PUT', '/v1/workflow_files', body)) as Deployed;
  const endpoints = workflow.triggers.flatMap(({ endpoint_url: endpoint }) => endpoint ?? []);
  deps.print({ path, result, workflow_id: workflow.id, endpoints });
}
