// The code of a source: sent by the caller, or a component in a file of the server.

import { plainCode } from '../../domain/origin.ts';
import type { BundledCode, SourceInput, WholeSource } from '../../domain/requests.ts';
import type { Components } from '../components/components.ts';

export interface SourceCode {
  /** As stored. */
  readonly code: string;
  /** Bundled already. */
  readonly ready?: BundledCode;
}

/** Returns the requested code, or the previous one. Throws `Refusal` for an invalid file. */
export async function codeOf(
  components: Components | undefined,
  { componentCode, componentPath, component, ready: given }: SourceInput,
  { namespace, before }: { namespace: string; before: WholeSource | null },
): Promise<SourceCode> {
  if (given) return { code: given.code, ready: { bundle: given.bundle, sourceMap: given.sourceMap } };
  if (componentPath !== undefined && components) {
    const { code, ...ready } = await components.fromPath(componentPath, { namespace, parameter: 'component_path' });
    return { code, ready };
  }
  if (component !== undefined && components) {
    const { code, ...ready } = await components.fromKey(component);
    return { code, ready };
  }
  if (componentCode !== undefined) return { code: plainCode(componentCode) };
  return { code: before?.source.componentCode ?? '' };
}
