// errand mcp: the tools of the Model Context Protocol, over standard input and output.

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { BundledFiles } from '../deploy-files.ts';
import { withExamples } from '../shell/examples.ts';
import { CliError, EXIT } from '../shell/exit.ts';
import { type Connect, type ServerOptions, serverOptions } from '../shell/remote.ts';
import { safeLines } from '../shell/text.ts';

interface McpDeps {
  readonly connect: Connect;
  readonly bundle: (file: { dir: string; path: string }) => Promise<BundledFiles>;
}

interface McpOptions extends ServerOptions {
  readonly dir: string;
  readonly readOnly?: true;
}

const READING = ['read'];

export function addMcp(program: Command, { connect, bundle }: McpDeps): void {
  const mcp = serverOptions(
    program
      .command('mcp')
      .description(
        'tools for assistants (Model Context Protocol): errors, groups, replays, deployments, deliveries, over standard input and output',
      ),
  )
    .option('--dir <folder>', 'folder whose workflow files may be deployed', '.')
    .option('--read-only', 'offer only tools that change nothing, whatever the key allows');
  withExamples(mcp, 'errand mcp --profile prod --read-only', 'claude mcp add errand -- npx errand mcp --profile prod');
  mcp.action(async ({ dir, readOnly, ...options }: McpOptions) => {
    const isFolder = await stat(dir)
      .then((found) => found.isDirectory())
      .catch(() => false);
    if (!isFolder) throw new CliError(`there is no folder ${resolve(dir)}`, EXIT.notFound);
    const { errand, url } = await connect(options);
    const { data: session } = await errand.getSession();
    const scopes = readOnly ? session.key.scopes.filter((scope) => READING.includes(scope)) : session.key.scopes;
    if (!scopes.includes('read')) throw new CliError(`the key "${session.key.label}" may not read`, EXIT.denied);
    const { serveMcp } = await import('../../mcp/stdio.ts');
    const told = (text: string): void => void process.stderr.write(`errand: ${safeLines(text).join('\n')}\n`);
    serveMcp({ errand, scopes, dir: resolve(dir), bundle: (file) => bundled(bundle, file), told });
    told(`tools for ${session.owner.name} on ${url}; a client speaks to it over standard input`);
  });
}

async function bundled(bundle: McpDeps['bundle'], file: { dir: string; path: string }) {
  const made = await bundle(file);
  if (made.kind === 'workflow') return { bundle: made.bundle, sourceMap: made.sourceMap };
  return { problems: made.kind === 'broken' ? made.problems : ['it exports no workflow'] };
}
