import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Fragment, useEffect, useRef, useState } from 'react';
import { markIn, pathOfKey } from '../../../../src/domain/files/file-mark.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { lastRunQuery } from '../../api/runs.ts';
import { type ReadWorkflow, workflowQuery } from '../../api/workflows.ts';
import { toast, toastError } from '../../parts/toast.tsx';
import { useArranging } from './arranging.ts';
import type { Place } from './completion.ts';
import { deploy, faultsOf, NO_FAULTS, type StepFaults } from './deploying.ts';
import { AddStep, RemoveStep, RenameStep } from './dialogs.tsx';
import { NO_DRAFT } from './draft.ts';
import {
  afterDeployment,
  isChanged as isChangedFrom,
  isRearranged,
  settled,
  shownSteps,
  withCode,
} from './draft-steps.ts';
import { useDraft } from './drafts.ts';
import { words } from './english.ts';
import { Overtaken } from './overtaken.tsx';
import { brokenAt } from './referring.ts';
import { Step } from './step.tsx';
import { Review } from './step-changes.tsx';

const NO_STEP_FAULTS: ReadonlyMap<string, StepFaults> = new Map();

type Asked =
  | { readonly for: 'add'; readonly behind: number }
  | { readonly for: 'rename' | 'remove'; readonly id: string }
  | { readonly for: 'review' };

/** The steps and their code. What is changed of them is deployed together: a workflow's version is all of its steps. */
export function Steps({ workflow: read, canWrite }: { workflow: ReadWorkflow; canWrite: boolean }) {
  const client = useQueryClient();
  const { workflow, hold } = useHeld(read);
  const { id, steps: deployed = [], deployment_id: version } = workflow;
  const [draft, setDraft] = useDraft(id);
  const [faults, setFaults] = useState(NO_STEP_FAULTS);
  const [isBusy, setBusy] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const keyOf = useKeys();
  const shown = shownSteps(deployed, draft);
  const isChanged = isChangedFrom(deployed, shown);
  const isArranged = isRearranged(deployed, shown);
  /** The draft began with another version than the one that it would replace. */
  const isOvertaken = isChanged && draft.base !== null && draft.base !== version;
  const arranging = useArranging({ shown, of: { deployed, version }, setDraft });
  const file = markIn(deployed[0]?.code ?? '');
  const mayArrange = canWrite && file === null;
  const close = (): void => setAsked(null);
  useAskBeforeClosing(isChanged);
  // What is deployed by now, from here or elsewhere, is no draft any more.
  useEffect(() => setDraft((now) => settled(now, { deployed, version })), [deployed, version, setDraft]);

  /** The last run is asked for when the first name is typed, and again when it may be an older one by now. */
  const placeOf = (at: number): Place | Promise<Place> => {
    const before = shown.slice(0, at).map(({ name }) => name);
    const withRun = (lastRun: Place['lastRun']): Place => ({ steps: before, triggers: workflow.triggers, lastRun });
    const known = client.getQueryData(lastRunQuery(id).queryKey);
    const asking = client.fetchQuery(lastRunQuery(id)).then(withRun, () => withRun(null));
    return known === undefined ? asking : withRun(known);
  };

  const save = async (isOver: boolean): Promise<void> => {
    if (!isChanged || isBusy) return;
    if (isOvertaken && !isOver) return toast(words.overtaken, undefined, true);
    setBusy(true);
    hold.during(workflow);
    try {
      const now = await deploy(client, workflow, shown);
      if (now === null) toast(words.overtaken, undefined, true);
      else {
        for (const step of shown) keyOf.rename(step.id, step.name);
        // Together: an editor that saw one of the two alone would show another text, and put its cursor elsewhere.
        const of = { deployed: now.steps ?? [], version: now.deployment_id };
        setDraft((left) => afterDeployment(left, { draft, steps: shown }, of));
        setFaults(NO_STEP_FAULTS);
        hold.until(now);
        client.setQueryData(workflowQuery(id).queryKey, now);
        toast(words.saved);
        for (const name of ['deployments', 'workflows']) void client.invalidateQueries({ queryKey: [name] });
        return setBusy(false);
      }
    } catch (error) {
      setFaults(faultsOf(error, shown));
      toastError(error);
    }
    hold.end();
    setBusy(false);
  };
  useSaveKey(arranging.card, isChanged && canWrite, () => void save(false));

  const addButton = (behind: number) => {
    const name = shown[behind]?.name ?? '';
    const isLast = behind === shown.length - 1;
    const isFull = shown.length >= LIMITS.stepsPerWorkflow;
    return (
      <div className={isLast ? 'step-add is-last' : 'step-add'}>
        <Button
          size={isLast ? 'compact-sm' : 'compact-xs'}
          variant="default"
          disabled={isFull}
          title={isFull ? words.most(LIMITS.stepsPerWorkflow) : isLast ? undefined : words.addAfter(name)}
          aria-label={isLast ? undefined : words.addAfter(name)}
          onClick={() => setAsked({ for: 'add', behind })}
        >
          {isLast ? words.add : '+'}
        </Button>
      </div>
    );
  };
  const known = new Set(deployed.map(({ namespace }) => namespace));
  const step = asked && 'id' in asked ? shown.find((one) => one.id === asked.id) : undefined;

  return (
    <section className="card" aria-label={words.code} ref={arranging.card}>
      <div className="card-head">
        <h2>{words.code}</h2>
        {isChanged && <span className="badge warn">{words.unsaved}</span>}
        <span className="grow" />
        {!canWrite && <span className="soft">{words.readOnly}</span>}
        {isChanged && (
          <>
            <Button size="compact-sm" variant="default" onClick={() => setAsked({ for: 'review' })}>
              {words.review}
            </Button>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => {
                setDraft(NO_DRAFT);
                setFaults(NO_STEP_FAULTS);
              }}
            >
              {words.discard}
            </Button>
          </>
        )}
        {canWrite && (
          <Button size="compact-sm" loading={isBusy} disabled={!isChanged} onClick={() => void save(true)}>
            {isOvertaken ? words.saveOver : words.save}
          </Button>
        )}
      </div>
      <p className="hidden-visually" role="status">
        {arranging.said}
      </p>
      {isOvertaken && draft.base !== null && <Overtaken workflowId={id} version={version} base={draft.base} />}
      {file && <p className="card-body soft">{words.ofFile(pathOfKey(file.key))}</p>}
      {shown.map((one, at) => (
        <Fragment key={keyOf.of(one.id)}>
          <Step
            step={one}
            isReadOnly={!canWrite}
            faults={faults.get(one.id) ?? NO_FAULTS}
            broken={isArranged ? brokenAt(at, shown, known) : []}
            written={draft.written}
            place={() => placeOf(at)}
            change={(code) => setDraft((before) => withCode(before, version, [one.id, code]))}
            save={() => void save(false)}
            acts={
              mayArrange
                ? {
                    isFirst: at === 0,
                    isLast: at === shown.length - 1,
                    move: (by) => arranging.move(one.id, by),
                    rename: () => setAsked({ for: 'rename', id: one.id }),
                    remove: () => setAsked({ for: 'remove', id: one.id }),
                  }
                : null
            }
          />
          {mayArrange && addButton(at)}
        </Fragment>
      ))}
      {asked?.for === 'add' && (
        <AddStep shown={shown} close={close} add={(name) => arranging.add(name, asked.behind)} />
      )}
      {asked?.for === 'rename' && step && (
        <RenameStep
          step={step}
          shown={shown}
          close={close}
          rename={(name, changed) => arranging.rename(step.id, name, changed)}
        />
      )}
      {asked?.for === 'remove' && step && (
        <RemoveStep step={step} shown={shown} close={close} remove={() => arranging.remove(step.id)} />
      )}
      {asked?.for === 'review' && <Review deployed={deployed} shown={shown} close={close} />}
    </section>
  );
}

interface Held {
  /** The record that was read when it was put there; null: any. */
  readonly over: ReadWorkflow | null;
  readonly is: ReadWorkflow;
}

/**
 * Returns the workflow that is read, or the one that is held in its place: while a draft of it is deployed, and until the page has
 * been told what was deployed. A draft would else be laid over its own result.
 */
function useHeld(read: ReadWorkflow) {
  const [held, setHeld] = useState<Held | null>(null);
  const current = useRef(read);
  current.current = read;
  const isHeld = held !== null && (held.over === null || held.over === read);
  return {
    workflow: isHeld ? held.is : read,
    hold: {
      during: (is: ReadWorkflow) => setHeld({ over: null, is }),
      until: (is: ReadWorkflow) => setHeld({ over: current.current, is }),
      end: () => setHeld(null),
    },
  };
}

/** Returns keys of steps for React: a step that gets another name keeps its editor. */
function useKeys() {
  const keys = useRef(new Map<string, string>());
  return {
    of: (id: string) => keys.current.get(id) ?? id,
    rename: (id: string, name: string) => {
      if (id === name) return;
      const key = keys.current.get(id) ?? id;
      keys.current.delete(id);
      keys.current.set(name, key);
    },
  };
}

/** The key that deploys in an editor deploys elsewhere among the steps, too, and where nothing has the focus. */
function useSaveKey(card: ReturnType<typeof useArranging>['card'], isOn: boolean, save: () => void): void {
  const current = useRef(save);
  current.current = save;
  useEffect(() => {
    if (!isOn) return;
    const listen = (event: KeyboardEvent): void => {
      const isKey = event.key.toLowerCase() === 's' && (event.ctrlKey || event.metaKey) && !event.altKey;
      const { target } = event;
      const isHere = target === document.body || (target instanceof Node && card.current?.contains(target));
      if (!isKey || event.defaultPrevented || !isHere) return;
      event.preventDefault();
      current.current();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [isOn, card]);
}

/** The browser asks before it closes a page in which something was changed; other pages of the dashboard keep it. */
function useAskBeforeClosing(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isChanged]);
}
