import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ProblemError } from '../../../src/client/client.ts';
import { lastRunQuery } from '../api/runs.ts';
import type { WorkflowStep } from '../api/types.ts';
import { type ReadWorkflow, updateWorkflow, workflowQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { toast, toastError } from '../parts/toast.tsx';
import { CodeEditor, type CodeFault } from './code-editor.tsx';
import type { Place } from './completion.ts';
import { type Code, NO_DRAFT, useDraft, withCode } from './drafts.ts';
import { Overtaken } from './overtaken.tsx';

const NO_FAULTS: readonly CodeFault[] = [];
/** The record is not the one any more that the change is of. */
const CHANGED = 412;

/** The code of each step. What is typed is deployed together: a workflow's version is all of its steps. */
export function Steps({ workflow, canWrite }: { workflow: ReadWorkflow; canWrite: boolean }) {
  const client = useQueryClient();
  const { id, steps = [], deployment_id: version } = workflow;
  const [{ code: typed, base }, setDraft] = useDraft(id);
  const [faults, setFaults] = useState<Readonly<Record<string, readonly CodeFault[]>>>({});
  const [isBusy, setBusy] = useState(false);
  const codeOf = ({ namespace, code = '' }: WorkflowStep): string => typed[namespace] ?? code;
  const isChanged = steps.some((step) => codeOf(step) !== (step.code ?? ''));
  /** What was typed began with another version than the one that it would replace. */
  const isOvertaken = isChanged && base !== null && base !== version;
  useAskBeforeClosing(isChanged);
  // What is deployed by now, from here or elsewhere, is no draft any more.
  useEffect(() => {
    const isDeployed = ([name, text]: [string, string]): boolean =>
      steps.some(({ namespace, code }) => namespace === name && code === text);
    setDraft((now) => {
      const isAny = Object.entries(now.code).some(isDeployed);
      return isAny
        ? withCode(
            now,
            pick(now.code, (one) => !isDeployed(one)),
            version,
          )
        : now;
    });
  }, [steps, version, setDraft]);

  /** The last run is asked for when the first name is typed, and again when it may be an older one by now. */
  const placeOf = (at: number): Place | Promise<Place> => {
    const before = steps.slice(0, at).map(({ namespace }) => namespace);
    const withRun = (lastRun: Place['lastRun']): Place => ({ steps: before, triggers: workflow.triggers, lastRun });
    const known = client.getQueryData(lastRunQuery(id).queryKey);
    const asked = client.fetchQuery(lastRunQuery(id)).then(withRun, () => withRun(null));
    return known === undefined ? asked : withRun(known);
  };

  /** Deploys in the place of the version that is shown, and of no other one. Returns null when another one is active. */
  const deploy = async (): Promise<ReadWorkflow | null> => {
    // Props that are left out stay as they are.
    const given = steps.map((step) =>
      step.component_path === undefined
        ? { namespace: step.namespace, code: codeOf(step) }
        : { namespace: step.namespace, component_path: step.component_path },
    );
    try {
      return await updateWorkflow(id, { steps: given }, workflow.etag);
    } catch (error) {
      if (!(error instanceof ProblemError && error.status === CHANGED)) throw error;
      const now = await client.fetchQuery({ ...workflowQuery(id), staleTime: 0 });
      // What else of it was changed, such as its settings, does not matter.
      return now.deployment_id === version ? updateWorkflow(id, { steps: given }, now.etag) : null;
    }
  };

  const save = async (isOver: boolean): Promise<void> => {
    if (!isChanged || isBusy) return;
    if (isOvertaken && !isOver) return toast(T.workflows.overtaken, undefined, true);
    setBusy(true);
    try {
      const deployed = await deploy();
      if (deployed === null) {
        toast(T.workflows.overtaken, undefined, true);
        return setBusy(false);
      }
      client.setQueryData(workflowQuery(id).queryKey, deployed);
      // The page is told of it in a task of its own. Without the draft before that, the editor would show the code as it was, and
      // put its cursor elsewhere.
      await new Promise((go) => setTimeout(go));
      // What was typed while it was being deployed is not deployed, and stays.
      const left = (now: Code): Code => pick(now, ([name, text]) => text !== typed[name]);
      setDraft((now) => withCode({ ...now, base: deployed.deployment_id }, left(now.code), deployed.deployment_id));
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
              setDraft(NO_DRAFT);
              setFaults({});
            }}
          >
            {T.workflows.discard}
          </Button>
        )}
        {canWrite && (
          <Button size="compact-sm" loading={isBusy} disabled={!isChanged} onClick={() => void save(true)}>
            {isOvertaken ? T.workflows.saveOver : T.workflows.save}
          </Button>
        )}
      </div>
      {isOvertaken && <Overtaken workflowId={id} version={version} base={base} />}
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
              change={(code) =>
                setDraft((before) => withCode(before, { ...before.code, [step.namespace]: code }, version))
              }
              save={() => void save(false)}
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

function pick(code: Code, isKept: (one: [string, string]) => boolean): Code {
  return Object.fromEntries(Object.entries(code).filter(isKept));
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
  if (!(error instanceof ProblemError)) return found;
  for (const { file = '', line, column, message, parameter } of error.errors) {
    if (line === undefined) continue;
    const named = steps.find(({ namespace }) => file.replace(/\.\w+$/, '').endsWith(namespace));
    const step = named ?? steps[Number(/steps\W+(\d+)/.exec(parameter)?.[1] ?? 0)];
    if (!step) continue;
    found[step.namespace] = [...(found[step.namespace] ?? []), { line, column: column ?? 1, message }];
  }
  return found;
}
