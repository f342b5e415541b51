import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { sessionQuery } from '../api/session.ts';
import { workflowsQuery } from '../api/workflows.ts';
import { Heading } from '../app/heading.tsx';
import { useKeys } from '../app/keys.ts';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { Command } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { WholeList } from '../parts/listed.tsx';
import { Badge, Empty } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Health, pagesOf } from './health.tsx';
import { NewWorkflow } from './new-workflow.tsx';

export function WorkflowList() {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [isMaking, setMaking] = useState(false);
  const mayWrite = useMay('write');
  const listed = useQuery(workflowsQuery);
  const { data: session } = useQuery(sessionQuery);
  useKeys({ '/': () => field.current?.focus() });
  const pages = useMemo(() => pagesOf(listed.data ?? []), [listed.data]);
  const wanted = text.trim().toLowerCase();
  const found = listed.data?.filter(({ id, name }) => id === text.trim() || name.toLowerCase().includes(wanted));
  return (
    <>
      <div className="page-head">
        <Heading text={T.workflows.title} />
        <span className="grow" />
        <TextInput
          ref={field}
          size="xs"
          type="search"
          aria-label={T.workflows.search}
          placeholder={T.workflows.search}
          leftSection={<Icon name="search" size={15} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {mayWrite && (
          <Button size="xs" onClick={() => setMaking(true)}>
            {T.newWorkflow.title}
          </Button>
        )}
      </div>
      <section className="card" aria-label={T.workflows.title}>
        <WholeList
          of={{ ...listed, data: found } as typeof listed}
          empty={
            listed.data?.length === 0 ? (
              <Empty icon="workflows" title={T.workflows.none} text={T.workflows.noneText}>
                <Command text={T.overview.command} />
              </Empty>
            ) : (
              <Empty icon="search" title={T.workflows.noMatch} />
            )
          }
          row={({ id, name, active }) => (
            <li key={id} className="group-link">
              <div className="grow cut">
                <Link to="/workflows/$workflowId" params={{ workflowId: id }}>
                  <Foreign>{name}</Foreign>
                </Link>{' '}
                {id === session?.owner.global_error_workflow_id && <span className="soft">{T.workflows.global}</span>}
              </div>
              {!active && <Badge state="paused" text={T.workflows.inactive} />}
              <Health id={id} after={pages.get(id)} />
            </li>
          )}
        />
      </section>
      {isMaking && <NewWorkflow close={() => setMaking(false)} />}
    </>
  );
}
