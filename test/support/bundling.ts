// What bundles for the servers of one test process: to start it takes a second of the processor, and most tests start a server.

import { type BundlingParts, createBundling } from '../../src/server/code-bundling.ts';
import type { Config } from '../../src/server/config.ts';

/** Settings that bundling goes by: a server with one of them has its own. */
const OWN = /PACKAGES|COMPONENTS|WORKFLOWS_DIR|ISOLATION|CODE_(?!USER$)|MEMORY|CGROUP/;
/** The next server of a file is started within it. */
const IDLE_MS = 300;

const QUIET = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let shared: BundlingParts | null = null;
let users = 0;
let ending: NodeJS.Timeout | undefined;

interface Shared {
  /** Undefined: the server has its own. */
  readonly bundling: BundlingParts | undefined;
  /** Called when the server has ended; may be called twice. */
  readonly release: () => void;
}

/** Returns what bundles for a server with these settings. It ends soon after the last server that uses it. */
export function shareBundling(config: Config, settings: Readonly<Record<string, string>>): Shared {
  const isOwn = settings.ERRAND_CODE_USER !== 'server' || Object.keys(settings).some((name) => OWN.test(name));
  if (isOwn) return { bundling: undefined, release: () => undefined };
  clearTimeout(ending);
  shared ??= createBundling(config, QUIET);
  users += 1;
  let isReleased = false;
  const release = (): void => {
    if (isReleased) return;
    isReleased = true;
    users -= 1;
    if (users === 0) ending = setTimeout(end, IDLE_MS);
  };
  return { bundling: { ...shared, stop: () => undefined }, release };
}

function end(): void {
  if (users > 0) return;
  shared?.stop();
  shared = null;
}
