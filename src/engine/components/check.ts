// Whether components would run here: each file is bundled and loaded as when it is deployed, and nothing is kept. What a
// process of its own tells of the component is held against what this host has.

import { LIMITS } from '../../domain/limits.ts';
import { plainCode } from '../../domain/origin.ts';
import type { CheckInput, CheckProblem, ComponentCheck, ComponentChecks } from '../../domain/requests.ts';
import { type Bundled, NO_DEFAULT, readSource, type StepSource } from '../../runner/bundling/bundle.ts';
import { NO_COMPONENT } from '../../runner/component-api.ts';
import type { ComponentShape, DescribeResult, Runner } from '../../runner/runner.ts';
import { accountsOf, problemsOf, warningsOf } from './check-host.ts';
import { type CheckedCode, declared, hasDefault, ownFiles, placeInStack } from './checked-code.ts';
import type { Components } from './components.ts';
import { installCommand } from './install-command.ts';
import { unstoredDeployment } from './unstored-deployment.ts';

export interface CheckDeps {
  readonly components: Pick<Components, 'bundle' | 'filesOf' | 'packagesDir'>;
  readonly runner: Pick<Runner, 'describe'>;
}

type CheckedComponent = Pick<ComponentCheck, 'kind' | 'name' | 'key' | 'version'> &
  Partial<Pick<ComponentCheck, 'accounts' | 'problems' | 'warnings'>>;

const CHECKED_AT_ONCE = 2;
const MAX_PROBLEMS = 50;
const MAX_TEXT_CHARS = 2000;
/** Files that components have in common, by the custom of the public registry. */
export const COMMON = /(^|\/)common[/.-]/;

export function createComponentChecks({ components, runner }: CheckDeps) {
  /**
   * Checks code, or files in the order of their paths: up to LIMITS.componentsChecked, and as many as are begun within
   * LIMITS.componentsCheckMs. Throws `Refusal` (422) naming `component_path` for what is not below the folder.
   */
  async function checkComponents(ownerId: string, input: CheckInput): Promise<ComponentChecks> {
    const all = await sourcesOf(input);
    const sources = all.slice(0, LIMITS.componentsChecked);
    const checks = await oneByOne(sources, (source) => checkOne(ownerId, source));
    const missing = checks.flatMap(({ missingPackages }) => missingPackages);
    const { packagesDir } = components;
    return {
      components: checks,
      install: packagesDir === null ? null : installCommand(packagesDir, missing),
      isTruncated: checks.length < all.length,
    };
  }

  async function sourcesOf({ componentCode, componentPath, after }: CheckInput): Promise<readonly StepSource[]> {
    if (componentPath === undefined) return [{ namespace: 'component', code: plainCode(componentCode ?? '') }];
    const files = await components.filesOf(componentPath);
    return after === undefined ? files : files.filter(({ path }) => path > after);
  }

  async function checkOne(ownerId: string, source: StepSource): Promise<ComponentCheck> {
    const path = 'path' in source ? source.path : null;
    const file = path ?? `${source.namespace}.ts`;
    const text = 'path' in source ? await readSource(source).catch(() => null) : source.code;
    if (text === null || Buffer.byteLength(text) > LIMITS.codeBytes) {
      const why = text === null ? 'cannot be read' : `has more than the ${LIMITS.codeBytes} bytes that are taken`;
      return checked(path, undefined, brokenBy(text ?? '', [{ file, line: 1, column: 1, text: `the file ${why}` }]));
    }
    const bundled = await components.bundle(source, ownerId);
    const found = bundled.ok
      ? await describedOf(ownerId, { file, text, source, bundled })
      : whyNoBundle(text, bundled.problems);
    return checked(path, bundled, found);
  }

  async function describedOf(ownerId: string, code: CheckedCode): Promise<CheckedComponent> {
    const { bundle, sourceMap } = code.bundled;
    const { namespace } = code.source;
    const deployment = unstoredDeployment({ ownerId, namespace, code: plainCode(code.text), bundle, sourceMap });
    const described = await runner.describe(deployment);
    return described.ok ? await foundIn(code, described.shape) : whyNotLoaded(code, described);
  }

  return { checkComponents };
}

async function foundIn(code: CheckedCode, shape: ComponentShape): Promise<CheckedComponent> {
  const { name, key, version } = shape;
  const kind = kindOf(shape, code.file);
  if (kind === 'module' || kind === 'app') return { kind, name, key, version };
  const files = await ownFiles(code);
  const problems = problemsOf(shape, files, code.bundled.bundle);
  return { kind, name, key, version, accounts: accountsOf(shape), problems, warnings: warningsOf(shape, code) };
}

/**
 * Returns what a file contains. A source needs neither a key nor `run`: what has none of both, or lies among common files, is
 * for other files. So is an action without both, which other actions extend.
 */
function kindOf({ type, key, hasRun }: ComponentShape, file: string): 'source' | 'action' | 'app' | 'module' {
  if (type === 'app') return type;
  if (type === 'action') return key === null && !hasRun ? 'module' : type;
  if (type === 'function' || (key === null && (!hasRun || COMMON.test(file)))) return 'module';
  return 'source';
}

function whyNoBundle(text: string, problems: Extract<Bundled, { ok: false }>['problems']): CheckedComponent {
  const isModule = problems.every((problem) => problem.text === NO_DEFAULT || problem.missing !== undefined);
  if (isModule && !hasDefault(text)) return { kind: 'module', ...declared(text) };
  return brokenBy(text, problems);
}

function whyNotLoaded(
  { file, text }: CheckedCode,
  { message, stack }: Extract<DescribeResult, { ok: false }>,
): CheckedComponent {
  if (message.includes(NO_COMPONENT)) return { kind: 'module', name: null, key: null, version: null };
  return brokenBy(text, [{ ...placeInStack(stack, file), text: `it cannot be loaded: ${message}` }]);
}

function brokenBy(text: string, problems: readonly CheckProblem[]): CheckedComponent {
  return { kind: 'broken', ...declared(text), problems };
}

function checked(path: string | null, bundled: Bundled | undefined, found: CheckedComponent): ComponentCheck {
  const { kind, name, key, version, accounts = [], problems = [], warnings = [] } = found;
  const missing = bundled?.ok === false ? bundled.problems.flatMap((problem) => problem.missing ?? []) : [];
  return {
    path,
    kind,
    runs: problems.length === 0,
    name: cut(name),
    key: cut(key),
    version: cut(version),
    imports: bundled?.imports ?? [],
    missingPackages: [...new Set(missing)].sort(),
    accounts,
    problems: shown(problems),
    warnings: shown(warnings),
  };
}

function cut(text: string | null): string | null {
  return text === null ? null : text.slice(0, MAX_TEXT_CHARS);
}

function shown(problems: readonly CheckProblem[]): CheckProblem[] {
  return problems
    .slice(0, MAX_PROBLEMS)
    .map(({ file, line, column, text }) => ({ file, line, column, text: text.slice(0, MAX_TEXT_CHARS) }));
}

/** Returns the results in the order of the items, without those that are not begun in time; the first one always is. */
async function oneByOne<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  const until = performance.now() + LIMITS.componentsCheckMs;
  const work = async (): Promise<void> => {
    for (const [i, item] of left) {
      results[i] = await act(item);
      if (performance.now() > until) return;
    }
  };
  await Promise.all(Array.from({ length: CHECKED_AT_ONCE }, work));
  return results;
}
