import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Operation } from '../../../src/client/client.ts';
import { operationsQuery } from '../api/operations.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { Choice } from '../parts/choice.tsx';
import { Listed } from '../parts/listed.tsx';
import { Badge, Empty } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { Progress } from './progress.tsx';
import { OperationTitle } from './title.tsx';

export const KINDS = ['replay', 'resend'] as const;

export function OperationList() {
  const { kind } = useSearch({ from: '/shell/operations' });
  const navigate = useNavigate({ from: '/operations' });
  return (
    <>
      <div className="page-head">
        <Heading text={T.operations.title} />
        <span className="grow" />
        <Choice
          label={T.operations.kind}
          all={T.operations.all}
          options={KINDS}
          textOf={(one) => T.operations.kinds[one]}
          value={kind}
          choose={(one) => void navigate({ search: one === undefined ? {} : { kind: one }, replace: true })}
        />
      </div>
      <Listed
        isPage
        title={T.operations.title}
        of={useInfiniteQuery(operationsQuery(kind))}
        row={(operation) => <Row key={operation.id} operation={operation} />}
        empty={
          <Empty icon="replay" title={T.operations.none} text={T.operations.noneText} command={T.operations.command} />
        }
      />
    </>
  );
}

function Row({ operation }: { operation: Operation }) {
  const { id, state, total, created_at_ms: createdAtMs } = operation;
  return (
    <li className="group-link">
      <div className="grow">
        <Link to="/operations/$operationId" params={{ operationId: id }}>
          <OperationTitle operation={operation} />
        </Link>
        <Progress operation={operation} />
        {operation.reason && <div className="soft cut">{operation.reason}</div>}
      </div>
      {total !== null && <span className="soft nowrap only-wide">{T.operations.of(operation.kind, total)}</span>}
      <Badge state={state} />
      <span className="soft">
        <Ago ms={createdAtMs} />
      </span>
    </li>
  );
}
