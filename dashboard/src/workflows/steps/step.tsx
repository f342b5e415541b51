import { CodeEditor } from './code-editor.tsx';
import type { Place } from './completion.ts';
import type { StepFaults } from './deploying.ts';
import type { ShownStep } from './draft-steps.ts';
import { words } from './english.ts';
import { isComponent } from './referring.ts';
import { type StepActs, StepButtons } from './step-acts.tsx';

interface StepProps {
  readonly step: ShownStep;
  readonly isReadOnly: boolean;
  readonly faults: StepFaults;
  /** What would no longer work in it. */
  readonly broken: readonly string[];
  readonly written: number;
  readonly place: () => Place | Promise<Place>;
  readonly change: (code: string) => void;
  readonly save: () => void;
  /** What rearranges it; null: it stays as it is. */
  readonly acts: StepActs | null;
}

export function Step({ step, isReadOnly, faults, broken, written, place, change, save, acts }: StepProps) {
  const { id, name, deployed, saved, typed } = step;
  const refused = new Set([...faults.said, ...faults.code.map(({ line, message }) => words.atLine(line, message))]);
  return (
    <div className="step" data-step={id}>
      <div className="step-head">
        <h3 className="step-name mono" tabIndex={-1} data-focus="name">
          {name}
        </h3>
        {deployed === null && <span className="badge warn">{words.isNew}</span>}
        {deployed !== null && deployed.namespace !== name && (
          <span className="badge warn">{words.wasNamed(deployed.namespace)}</span>
        )}
        <span className="grow" />
        {acts && <StepButtons name={name} acts={acts} />}
      </div>
      {[...refused].map((said) => (
        <p key={said} className="step-said is-fault">
          {said}
        </p>
      ))}
      {broken.map((said) => (
        <p key={said} className="step-said warn">
          {said}
        </p>
      ))}
      {isComponent(step) ? (
        <p className="card-body soft">
          {words.component} <code>{deployed?.component_path}</code>
        </p>
      ) : (
        <CodeEditor
          label={words.codeOf(name)}
          code={saved}
          typed={typed}
          written={written}
          isReadOnly={isReadOnly}
          faults={faults.code}
          place={place}
          change={change}
          save={save}
        />
      )}
    </div>
  );
}
