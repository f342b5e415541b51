import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Workflow } from '../api/types.ts';
import { activateDeployment, deploymentsQuery } from '../api/workflows.ts';
import { T } from '../english.ts';
import { Badge } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { toast, toastError } from '../parts/toast.tsx';

export function Versions({
  workflow: { id, deployment_id: current },
  canWrite,
}: {
  workflow: Workflow;
  canWrite: boolean;
}) {
  const client = useQueryClient();
  const { data: versions = [] } = useQuery(deploymentsQuery(id));
  const goBack = async (deploymentId: string): Promise<void> => {
    try {
      await activateDeployment(id, deploymentId);
      toast(T.workflows.rolledBack);
    } catch (error) {
      toastError(error);
    }
    for (const name of ['workflow', 'deployments']) void client.invalidateQueries({ queryKey: [name, id] });
  };
  return (
    <section className="card">
      <div className="card-head">
        <h2>{T.workflows.versions}</h2>
      </div>
      <ul className="rows">
        {versions.map(({ id: version, created_at }) => (
          <li key={version}>
            <div className="grow">
              <code className="cut">{version}</code>
              <div className="soft">
                <Ago ms={created_at * 1000} />
              </div>
            </div>
            {version === current && <Badge state="active" text={T.workflows.current} />}
            {version !== current && canWrite && (
              <Button size="compact-xs" variant="default" onClick={() => void goBack(version)}>
                {T.workflows.rollBack}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
