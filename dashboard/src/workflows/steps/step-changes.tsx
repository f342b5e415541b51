import { lineDiff } from '../../../../src/domain/errors/line-diff.ts';
import { type StepChange, stepChanges } from '../../../../src/domain/steps/step-changes.ts';
import type { WorkflowStep } from '../../api/types.ts';
import { T } from '../../english.ts';
import { CodeDiff } from '../../parts/code-diff.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { codeOf, type ShownStep } from './draft-steps.ts';
import { words } from './english.ts';

interface CodeChange {
  readonly namespace: string;
  readonly lines: readonly string[] | null;
}

interface ChangesProps {
  readonly steps: readonly StepChange[];
  readonly code: readonly CodeChange[];
}

/** Steps that came, went, or have another name or place, and lines that differ. */
export function StepChanges({ steps, code }: ChangesProps) {
  // The code of a step that was renamed is the same, and would be shown as gone and come.
  const renamed = new Set(steps.flatMap(({ was, namespace }) => (was === null ? [] : [was, namespace])));
  const shown = code.filter(({ namespace, lines }) => !renamed.has(namespace) || !isWhole(lines));
  return (
    <>
      {steps.length > 0 && (
        <ul className="step-changes" aria-label={words.changesLabel}>
          {steps.map(({ change, namespace, was }) => (
            <li key={`${change} ${namespace}`}>{words.changes[change](namespace, was)}</li>
          ))}
        </ul>
      )}
      {shown.map(({ namespace, lines }) => (
        <div key={namespace}>
          <h3 className="mono">{T.differences.step(namespace)}</h3>
          {lines === null ? (
            <p className="soft">{T.differences.tooMany}</p>
          ) : (
            <CodeDiff label={T.differences.step(namespace)} lines={lines} />
          )}
        </div>
      ))}
    </>
  );
}

/** Returns whether all of the code came, or all of it went. */
function isWhole(lines: CodeChange['lines']): boolean {
  return lines !== null && ['+', '-'].some((sign) => lines.every((line) => line.startsWith(sign) || line === ' '));
}

interface ReviewProps {
  readonly deployed: readonly WorkflowStep[];
  readonly shown: readonly ShownStep[];
  readonly close: () => void;
}

/** What deploying a draft changes of the active version. */
export function Review({ deployed, shown, close }: ReviewProps) {
  const before = deployed.map(({ namespace, code = '' }) => ({ namespace, code }));
  const after = shown.map((step) => ({
    namespace: step.name,
    code: codeOf(step),
    was: step.deployed?.namespace ?? null,
  }));
  const changed = after.map(({ namespace, code, was }) => {
    const had = was === null ? '' : (before.find((step) => step.namespace === was)?.code ?? '');
    return had === code ? [] : [{ namespace, lines: lineDiff(had, code) }];
  });
  const gone = before
    .filter(({ namespace }) => !after.some(({ was }) => was === namespace))
    .map(({ namespace, code }) => ({ namespace, lines: lineDiff(code, '') }));
  return (
    <Dialog title={words.reviewTitle} isLarge close={close}>
      <div className="stack-16">
        <StepChanges steps={stepChanges(before, after)} code={[...changed.flat(), ...gone]} />
      </div>
    </Dialog>
  );
}
