// Builds the server as the package has it, into a folder (`dist/`): the modules as tsc writes them, and in few files the programs of
// `errand start` (`bundled/`), which `main.js` loads, and of the other commands (`bundled/commands/`), which `commands.js` does. The file
// that processes of code run is among them: a start without it bundles one, for which it loads the bundler.
//
// Each module of a program costs finding and compiling it, and V8 keeps the sources of all of them, comments and all: of an idle
// server the modules took 115 MB and 550 ms of CPU until it was ready, the few files take 107 MB and 360 ms, and without the
// bundler 96 MB and 330 ms. Of a short command they took 560 ms of CPU, and the few files take 480. The modules stay beside them for
// the processes that bundle code, and for programs that import the package.
//
// The two share no file: what both need would be cut into small ones, and a start took 125 ms more of CPU (bench/README.md).
//
// Names are kept, since they are what the stacks in a server's log say. Packages are not part of the files: what is installed is
// what `npm audit` looks at. (With them, 1 MB less.)

import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { childBuild } from '../src/runner/isolation/child-code.ts';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = 'bundled';
const COMMANDS = `${FOLDER}/commands`;

/** Builds the server into a folder that is empty or has an earlier build. Throws with what the compiler says. */
export async function buildServer(dist: string): Promise<void> {
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  await promisify(execFile)(compiler, ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', dist]).catch(
    ({ stdout, message }) => {
      throw new Error(stdout || message);
    },
  );
  await rm(join(dist, FOLDER), { recursive: true, force: true });
  const shared = {
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
    minifySyntax: true,
    minifyWhitespace: true,
    define: { 'import.meta.main': 'false' },
    logLevel: 'error',
  } as const;
  for (const [name, folder] of [
    ['main.js', FOLDER],
    ['commands.js', COMMANDS],
  ] as const) {
    const plugins = [placesOf(dist, folder), ...(folder === COMMANDS ? [serverApart(folder)] : [])];
    await build({ ...shared, entryPoints: [join(dist, name)], outdir: join(dist, folder), plugins });
    await writeFile(join(dist, name), `import './${folder}/${name}';\n`);
  }
  const code = { entry: join(dist, 'runner/child/main.js'), to: join(dist, FOLDER, 'code.js') };
  await build({ ...childBuild(code.entry), outfile: code.to, logLevel: 'error' });
}

/** Lets each module know its own place, in whichever file it comes to be: files of the package are found by it. */
function placesOf(dist: string, folder: string): Plugin {
  const filter = new RegExp(`^${RegExp.escape(resolve(dist) + sep)}.*\\.js$`);
  return {
    name: 'places',
    setup: (files) => {
      files.onLoad({ filter }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        return text.includes('import.meta') ? { contents: placed(text, relative(join(dist, folder), path)) } : null;
      });
    },
  };
}

/** Leaves the server in its own files: `errand start` with options loads the same ones as without. */
function serverApart(folder: string): Plugin {
  return {
    name: 'server apart',
    setup: (files) => {
      files.onResolve({ filter: /^\.\/main\.js$/ }, ({ path }) => ({
        path: `${relative(folder, '.')}/${path.slice('./'.length)}`,
        external: true,
      }));
    },
  };
}

/** `path`: of the module, from the folder of the file that it becomes part of. */
function placed(text: string, path: string): string {
  const to = path.replaceAll(sep, '/');
  const pathOf = (of: string) => `process.getBuiltinModule('path').resolve(import.meta.dirname, ${JSON.stringify(of)})`;
  const places = {
    url: `new URL(${JSON.stringify(to)}, import.meta.url).href`,
    filename: pathOf(to),
    dirname: pathOf(dirname(to)),
  };
  return text.replaceAll(/import\.meta\.(url|filename|dirname)\b/g, (_, of: keyof typeof places) => places[of]);
}

if (import.meta.main) await buildServer(join(ROOT, 'dist'));
