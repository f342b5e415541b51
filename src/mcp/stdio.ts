// MCP over standard input and output, for a client on this machine. Besides the tools of all transports it deploys files of a
// folder here, with all that they import.

import { readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Errand } from '../client/client.ts';
import { FILE_LIMITS } from '../domain/files/limits.ts';
import { input, text } from './schema.ts';
import { createMcpServer } from './server.ts';
import { type Tool, ToolError, tool } from './tool.ts';
import { DEPLOYED, DEPLOYING, deployed, SECOND } from './tools/workflows.ts';

type BundledHere = { readonly bundle: string; readonly sourceMap: string } | { readonly problems: readonly string[] };

export interface StdioOptions {
  readonly errand: Errand;
  readonly scopes: readonly string[];
  /** No file outside of it is read. */
  readonly dir: string;
  readonly bundle: (file: { dir: string; path: string }) => Promise<BundledHere>;
  /** Tells a person: standard output is the protocol's. */
  readonly told: (text: string) => void;
}

export function serveMcp({ errand, scopes, dir, bundle, told }: StdioOptions): void {
  const onFault = (error: unknown): void => told(error instanceof Error ? (error.stack ?? error.message) : `${error}`);
  const more = [deployFile({ dir, bundle })];
  serveStdio(() => createMcpServer({ errand, scopes, more, onFault }), {
    maxSubscriptions: 0,
    onerror: (error) => told(wrongOf(error)),
  });
}

/** Returns what is wrong with the standard input, in one line. What the SDK says of a message is a page of its schemas. */
function wrongOf({ name, message }: Error): string {
  if (name === 'ZodError' || message.startsWith('['))
    return 'a line of standard input is no message of JSON-RPC 2.0, and was passed over; each message is a line of its own, without batches';
  if (/maximum size/.test(message)) return `a message is too long, and the connection ends: ${message}`;
  return message;
}

function deployFile({ dir, bundle }: Pick<StdioOptions, 'dir' | 'bundle'>): Tool {
  return tool<{ readonly path: string; readonly second?: boolean }>({
    name: 'deploy_workflow_file',
    title: 'Deploy a workflow file of this machine',
    description:
      'Deploys a workflow file of the folder that this server was started in, bundled here with all that it imports, packages included: what "errand deploy" does. Prefer it to deploy_workflow for a file that is on disk. The same path is the same workflow: it is made or replaced at once.',
    scope: 'write',
    hints: DEPLOYING,
    input: input(
      {
        path: text('Relative to the folder, with slashes, such as shop/order.ts.', {
          minLength: 1,
          maxLength: FILE_LIMITS.pathChars,
        }),
        second: SECOND,
      },
      ['path'],
    ),
    output: DEPLOYED,
    call: async (errand, { path, second }) => {
      const { root, source } = await readWithin(dir, path);
      const made = await bundle({ dir: root, path });
      if ('problems' in made) throw new ToolError(`${path}: ${made.problems.join('\n')}`);
      const { bundle: code, sourceMap } = made;
      return deployed(errand, { path, source, bundle: code, source_map: sourceMap }, second);
    },
  });
}

const FILE = /^[^/\\]+(?:\/[^/\\]+)*\.[cm]?[jt]sx?$/;

/** Reads a file below a folder. A link that leads out of it is refused, too. */
async function readWithin(dir: string, path: string): Promise<{ root: string; source: string }> {
  if (!FILE.test(path) || path.split('/').includes('..'))
    throw new ToolError(`"${path}" is no path of a TypeScript or JavaScript file below ${dir}.`);
  const root = await realpath(dir);
  const file = await realpath(join(root, path)).catch(() => null);
  if (file === null) throw new ToolError(`There is no file ${path} in ${dir}.`);
  if (!file.startsWith(root + sep))
    throw new ToolError(`${path} leads out of ${dir}: only files below it are deployed.`);
  return { root, source: await readFile(file, 'utf8') };
}
