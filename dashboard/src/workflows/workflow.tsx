import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { markIn, pathOfKey } from '../../../src/domain/files/file-mark.ts';
import { sessionQuery } from '../api/session.ts';
import type { Workflow } from '../api/types.ts';
import { deleteWorkflow, type ReadWorkflow, runWorkflow, updateWorkflow, workflowQuery } from '../api/workflows.ts';
import { Heading } from '../app/heading.tsx';
import { later } from '../app/later.tsx';
import { T } from '../english.ts';
import { useAct } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { BackTo } from '../parts/back.tsx';
import { ConfirmButton } from '../parts/confirm.tsx';
import { Badge, Loading, Unready } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Runs } from '../runs/run-rows.tsx';
import { Redaction } from '../settings/redaction.tsx';
import { Links } from './links.tsx';
import { Retention } from './retention.tsx';
import { RunDialog } from './run-dialog.tsx';
import { WorkflowSettings } from './settings.tsx';
import { words } from './steps/english.ts';
import { StepButtons } from './steps/step-acts.tsx';
import { Triggers } from './triggers.tsx';
import { Versions } from './versions.tsx';

/** The editor is a third of a megabyte: it comes when its code is to be shown. */
const Steps = later(async () => (await import('./steps/steps.tsx')).Steps, EditorPlace);

/** The address of a workflow's `editor_url`: its id is the last part before `/edit`. */
export function EditPage() {
  const { workflow = '' } = useParams({ strict: false }) as { workflow?: string };
  return <Page id={/p_[0-9A-Za-z]+$/.exec(workflow)?.[0] ?? workflow} />;
}

export function WorkflowPage() {
  const { workflowId } = useParams({ from: '/shell/workflows/$workflowId' });
  return <Page id={workflowId} />;
}

function Page({ id }: { id: string }) {
  const asked = useQuery(workflowQuery(id));
  const { data: workflow } = asked;
  if (!workflow) return <Unready of={asked} isPage />;
  return <Whole key={id} workflow={workflow} />;
}

/** Of a line of code, and around those of a step. */
const [LINE_PX, AROUND_PX] = [20.625, 8];

const NO_ACTS = { move: () => {}, rename: () => {}, remove: () => {} };

/** As high as the editors will be. */
function EditorPlace({ workflow: { steps = [] }, canWrite }: { workflow: Workflow; canWrite: boolean }) {
  const file = markIn(steps[0]?.code ?? '');
  const mayArrange = canWrite && file === null;
  return (
    <section className="card" aria-label={words.code}>
      <div className="card-head">
        <h2>{words.code}</h2>
      </div>
      {file && <p className="card-body soft">{words.ofFile(pathOfKey(file.key))}</p>}
      {steps.map(({ id, namespace, code = '' }, at) => (
        <div key={id} className="step">
          <div className="step-head">
            <h3 className="step-name mono">{namespace}</h3>
            <span className="grow" />
            {mayArrange && (
              <div style={{ visibility: 'hidden' }}>
                <StepButtons
                  name={namespace}
                  acts={{ ...NO_ACTS, isFirst: at === 0, isLast: at === steps.length - 1 }}
                />
              </div>
            )}
          </div>
          <div style={{ height: `min(60vh, ${Math.max(52, code.split('\n').length * LINE_PX + AROUND_PX)}px)` }}>
            <Loading rows={2} />
          </div>
        </div>
      ))}
      {mayArrange && <div className="step-add is-last" />}
    </section>
  );
}

function Whole({ workflow }: { workflow: ReadWorkflow }) {
  const { data: session } = useQuery(sessionQuery);
  const canWrite = session?.key.scopes.includes('write') ?? false;
  const { id, name, active } = workflow;
  return (
    <>
      <BackTo list="/workflows">{T.workflows.title}</BackTo>
      <div className="page-head">
        <div className="grow" style={{ minWidth: 0, flexBasis: 320 }}>
          <Heading isRecord text={name}>
            <Foreign>{name}</Foreign>{' '}
            <Badge state={active ? 'active' : 'paused'} text={active ? T.workflows.active : T.workflows.inactive} />
          </Heading>
          <p className="soft">
            <code>{id}</code> ·{' '}
            <Link to="/errors" search={{ emitter: id, state: 'all' }}>
              {T.workflows.errors}
            </Link>
            {canWrite && (
              <>
                {' · '}
                <Link to="/operations/new" search={{ workflow: id }}>
                  {T.workflows.replayAll}
                </Link>
              </>
            )}
          </p>
        </div>
        {canWrite && <Acts workflow={workflow} mayDelete={id !== session?.owner.global_error_workflow_id} />}
      </div>
      <div className="columns">
        <div className="stack-16">
          <Steps workflow={workflow} canWrite={canWrite} />
        </div>
        <div className="stack-16 beside">
          <Triggers workflow={workflow} canWrite={canWrite} />
          <Links id={id} />
          <WorkflowSettings workflow={workflow} canWrite={canWrite} />
          <Versions workflow={workflow} canWrite={canWrite} />
          <Redaction workflowId={id} canChange={canWrite} />
          <Retention key={id} workflow={workflow} canWrite={canWrite} />
        </div>
        <Runs of={{ workflow_id: id }} />
      </div>
    </>
  );
}

const FIRST_EVENT = '{\n  "body": {}\n}';

function Acts({ workflow: { id, name, active }, mayDelete }: { workflow: ReadWorkflow; mayDelete: boolean }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isRunning, setRunning] = useState(false);
  const act = useAct(['workflow', id], ['workflows']);
  const toggle = async (): Promise<void> => {
    client.setQueryData(workflowQuery(id).queryKey, await updateWorkflow(id, { active: !active }));
    void client.invalidateQueries({ queryKey: ['workflows'] });
  };
  const remove = async (): Promise<void> => {
    // The page asks for its record again and again, and would be told that there is none.
    await navigate({ to: '/workflows' });
    await act(() => deleteWorkflow(id), T.workflows.deleted);
  };
  return (
    <div className="buttons">
      <Button size="xs" onClick={() => setRunning(true)}>
        {T.workflows.run}
      </Button>
      {active ? (
        <ConfirmButton title={T.workflows.deactivate} text={T.workflows.deactivateText} run={toggle} />
      ) : (
        <ActButton size="xs" variant="default" act={toggle}>
          {T.workflows.activate}
        </ActButton>
      )}
      {mayDelete && <ConfirmButton title={T.workflows.delete} text={T.workflows.deleteText(name)} run={remove} />}
      {isRunning && (
        <RunDialog
          title={T.workflows.runTitle}
          about={T.workflows.runText}
          id={id}
          first={FIRST_EVENT}
          run={runWorkflow}
          close={() => setRunning(false)}
        />
      )}
    </div>
  );
}
