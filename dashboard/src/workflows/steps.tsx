import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError } from '../api/http.ts';
import { lastRunQuery } from '../api/runs.ts';
import type { Workflow, WorkflowStep } from '../api/types.ts';
import { updateWorkflow, workflowQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { toast, toastError } from '../parts/toast.tsx';
import { CodeEditor, type CodeFault } from './code-editor.tsx';
import type { Place } from './completion.ts';
import { type Draft, useDraft } from './drafts.ts';

const NO_FAULTS: readonly CodeFault[] = [];

/** The code of each step. What is typed is deployed together: a workflow's version is all of its steps. */
export function Steps({ workflow, canWrite }: { workflow: Workflow; canWrite: boolean }) {
  const client = useQueryClient();
  const { id, steps = [] } = workflow;
  const [typed, setTyped] = useDraft(id);
  const [faults, setFaults] = useState<Readonly<Record<string, readonly CodeFault[]>>>({});
  const [isBusy, setBusy] = useState(false);
  const codeOf = ({ namespace, code = '' }: WorkflowStep): string => typed[namespace] ?? code;
  const isChanged = steps.some((step) => codeOf(step) !== (step.code ?? ''));
  useAskBeforeClosing(isChanged);
  // What is deployed by now, from here or elsewhere, is no draft any more.
  useEffect(() => {
    const isDeployed = ([name, text]: [string, string]): boolean =>
      steps.some(({ namespace, code }) => namespace === name && code === text);
    setTyped((now) => (Object.entries(now).some(isDeployed) ? pick(now, (one) => !isDeployed(one)) : now));
  }, [steps, setTyped]);

  /** The last run is asked for when the first name is typed, and again when it may be an older one by now. */
  const placeOf = (at: number): Place | Promise<Place> => {
    const before = steps.slice(0, at).map(({ namespace }) => namespace);
    const withRun = (lastRun: Place['lastRun']): Place => ({ steps: before, triggers: workflow.triggers, lastRun });
    const known = client.getQueryData(lastRunQuery(id).queryKey);
    const asked = client.fetchQuery(lastRunQuery(id)).then(withRun, () => withRun(null));
    return known === undefined ? asked : withRun(known);
  };

  const save = async (): Promise<void> => {
    if (!isChanged || isBusy) return;
    setBusy(true);
    try {
      // Props that are left out stay as they are.
      const given = steps.map((step) =>
        step.component_path === undefined
          ? { namespace: step.namespace, code: codeOf(step) }
          : { namespace: step.namespace, component_path: step.component_path },
      );
      client.setQueryData(workflowQuery(id).queryKey, await updateWorkflow(id, { steps: given }));
      // What was typed while it was being deployed is not deployed, and stays.
      setTyped((now) => pick(now, ([name, text]) => text !== typed[name]));
      setFaults({});
      toast(T.workflows.saved);
      for (const name of ['deployments', 'workflows']) void client.invalidateQueries({ queryKey: [name] });
    } catch (error) {
      setFaults(faultsOf(error, steps));
      toastError(error);
    }
    setBusy(false);
  };

  return (
    <section className="card" aria-label={T.workflows.code}>
      <div className="card-head">
        <h2>{T.workflows.code}</h2>
        {isChanged && <span className="badge warn">{T.workflows.unsaved}</span>}
        <span className="grow" />
        {!canWrite && <span className="soft">{T.workflows.readOnly}</span>}
        {isChanged && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => {
              setTyped({});
              setFaults({});
            }}
          >
            {T.workflows.discard}
          </Button>
        )}
        {canWrite && (
          <Button size="compact-sm" loading={isBusy} disabled={!isChanged} onClick={() => void save()}>
            {T.workflows.save}
          </Button>
        )}
      </div>
      {steps.map((step, at) => (
        <div key={step.id} className="step">
          <h3 className="step-name mono">{step.namespace}</h3>
          {step.component_path === undefined ? (
            <CodeEditor
              label={T.workflows.step(step.namespace)}
              code={step.code ?? ''}
              typed={typed[step.namespace]}
              isReadOnly={!canWrite}
              faults={faults[step.namespace] ?? NO_FAULTS}
              place={() => placeOf(at)}
              change={(code) => setTyped((before) => ({ ...before, [step.namespace]: code }))}
              save={() => void save()}
            />
          ) : (
            <p className="card-body soft">
              {T.workflows.component} <code>{step.component_path}</code>
            </p>
          )}
        </div>
      ))}
    </section>
  );
}

function pick(draft: Draft, isKept: (one: [string, string]) => boolean): Draft {
  return Object.fromEntries(Object.entries(draft).filter(isKept));
}

/** The browser asks before it closes a page in which something was typed; other pages of the dashboard keep it. */
function useAskBeforeClosing(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isChanged]);
}

/** Places that the server names, by the step whose file they are in. */
function faultsOf(error: unknown, steps: readonly WorkflowStep[]): Record<string, CodeFault[]> {
  const found: Record<string, CodeFault[]> = {};
  if (!(error instanceof ApiError)) return found;
  for (const { file = '', line, column, message, parameter } of error.problem?.errors ?? []) {
    if (line === undefined) continue;
    const named = steps.find(({ namespace }) => file.replace(/\.\w+$/, '').endsWith(namespace));
    const step = named ?? steps[Number(/steps\W+(\d+)/.exec(parameter)?.[1] ?? 0)];
    if (!step) continue;
    found[step.namespace] = [...(found[step.namespace] ?? []), { line, column: column ?? 1, message }];
  }
  return found;
}
