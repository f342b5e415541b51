// A folder of components and one of packages, as an operator keeps them.

import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface ComponentFolder extends AsyncDisposable {
  readonly dir: string;
  readonly settings: { readonly ERRAND_COMPONENTS_DIR: string; readonly ERRAND_PACKAGES_DIR: string };
  /** Paths begin with `components/` or `packages/`. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
}

/** `below`: where the folder is made. */
export async function createComponents(
  files: Readonly<Record<string, string>>,
  below = tmpdir(),
): Promise<ComponentFolder> {
  const dir = await mkdtemp(join(below, 'errand-components-'));
  await chmod(dir, 0o755); // as installed packages are: readable by who the code runs as
  const write = async (given: Readonly<Record<string, string>>): Promise<void> => {
    for (const [path, text] of Object.entries(given)) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), text);
    }
  };
  await write({ 'components/.keep': '', 'packages/package.json': '{}', ...files });
  return {
    dir,
    settings: { ERRAND_COMPONENTS_DIR: join(dir, 'components'), ERRAND_PACKAGES_DIR: join(dir, 'packages') },
    write,
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}
