import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Workflow } from '../api/types.ts';
import { activateDeployment, deploymentsQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { useAct } from '../parts/act.ts';
import { ActButton } from '../parts/act-button.tsx';
import { Card } from '../parts/card.tsx';
import { WholeList } from '../parts/listed.tsx';
import { Badge } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { Changes } from './changes.tsx';

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
                <button
                  type="button"
                  className="link-button"
                  aria-label={T.workflows.changesIn(version)}
                  onClick={() => setShown(version)}
                >
                  {T.workflows.changes}
                </button>
              </div>
            </div>
            {version === current && <Badge state="active" text={T.workflows.current} />}
            {version !== current && canWrite && (
              <ActButton
                size="compact-xs"
                variant="default"
                aria-label={T.workflows.rollBackTo(version)}
                act={() => act(() => activateDeployment(id, version), T.workflows.rolledBack)}
              >
                {T.workflows.rollBack}
              </ActButton>
            )}
          </li>
        )}
      />
      {shown !== null && <Changes workflowId={id} version={shown} current={current} close={() => setShown(null)} />}
    </Card>
  );
}
