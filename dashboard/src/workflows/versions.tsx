import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Workflow } from '../api/types.ts';
import { activateDeployment, changesQuery, deploymentsQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { useAct } from '../parts/act.ts';
import { Card } from '../parts/card.tsx';
import { CodeDiff } from '../parts/code-diff.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { WholeList } from '../parts/listed.tsx';
import { Badge, Unready } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';

interface VersionsProps {
  readonly workflow: Workflow;
  readonly canWrite: boolean;
}

export function Versions({ workflow: { id, deployment_id: current }, canWrite }: VersionsProps) {
  const asked = useQuery(deploymentsQuery(id));
  const [shown, setShown] = useState<string | null>(null);
  const act = useAct(['workflow', id], ['deployments', id]);
  return (
    <Card title={T.workflows.versions}>
      <WholeList
        of={asked}
        row={({ id: version, created_at }) => (
          <li key={version}>
            <div className="grow">
              <code className="cut">{version}</code>
              <div className="soft">
                <Ago ms={created_at * 1000} /> ·{' '}
                <button type="button" className="link-button" onClick={() => setShown(version)}>
                  {T.workflows.changes}
                </button>
              </div>
            </div>
            {version === current && <Badge state="active" text={T.workflows.current} />}
            {version !== current && canWrite && (
              <Button
                size="compact-xs"
                variant="default"
                onClick={() => void act(() => activateDeployment(id, version), T.workflows.rolledBack)}
              >
                {T.workflows.rollBack}
              </Button>
            )}
          </li>
        )}
      />
      {shown !== null && <Changes workflowId={id} version={shown} current={current} close={() => setShown(null)} />}
    </Card>
  );
}

interface ChangesProps {
  readonly workflowId: string;
  readonly version: string;
  readonly current: string;
  readonly close: () => void;
}

/** What a version changed, and what going back to it would change. */
function Changes({ workflowId, version, current, close }: ChangesProps) {
  const [isToCurrent, setToCurrent] = useState(false);
  const asked = useQuery(changesQuery(workflowId, version, isToCurrent ? current : undefined));
  const { data } = asked;
  return (
    <Dialog title={T.workflows.changesOf(version)} isLarge close={close}>
      <div className="stack-16">
        {version !== current && (
          <div>
            <div className="tabs">
              <button type="button" aria-pressed={!isToCurrent} onClick={() => setToCurrent(false)}>
                {T.workflows.toBefore}
              </button>
              <button type="button" aria-pressed={isToCurrent} onClick={() => setToCurrent(true)}>
                {T.workflows.toCurrent}
              </button>
            </div>
          </div>
        )}
        {!data && <Unready of={asked} />}
        {data?.from_deployment_id === null && <p className="soft">{T.workflows.firstVersion}</p>}
        {data?.code.length === 0 && <p className="soft">{T.workflows.noChange}</p>}
        {data?.code.map(({ namespace, lines }) => (
          <div key={namespace}>
            <h3 className="mono">{T.differences.step(namespace)}</h3>
            {lines === null ? (
              <p className="soft">{T.differences.tooMany}</p>
            ) : (
              <CodeDiff label={T.differences.step(namespace)} lines={lines} />
            )}
          </div>
        ))}
      </div>
    </Dialog>
  );
}
