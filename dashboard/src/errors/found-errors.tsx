import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { foundErrorsQuery } from '../api/errors.ts';
import { useNames } from '../api/names.ts';
import { T } from '../english.ts';
import { ErrorLink } from '../operations/error-link.tsx';
import { Listed } from '../parts/listed.tsx';
import type { Period } from '../parts/period.ts';
import { Empty } from '../parts/state.tsx';
import { Foreign, Said } from '../parts/text/foreign.tsx';
import { At } from '../parts/time.tsx';

interface FoundErrorsProps {
  readonly q: string;
  readonly emitter: string | undefined;
  readonly within: Period | undefined;
  /** Groups match, too: it is searched when that is asked for. */
  readonly hasGroups: boolean;
}

/** Single errors whose own message has the text: what varies in a message, such as the number of an order, finds no group. */
export function FoundErrors(props: FoundErrorsProps) {
  // Of another search it is asked again.
  const of = JSON.stringify([props.q, props.emitter, props.within]);
  const [asked, ask] = useState('');
  if (!props.hasGroups || asked === of)
    return (
      <div className="found-errors">
        <Found {...props} />
      </div>
    );
  return (
    <div className="card-body">
      <Button size="compact-sm" variant="default" onClick={() => ask(of)}>
        {T.errors.searchSingle}
      </Button>
    </div>
  );
}

function Found({ q, emitter, within }: FoundErrorsProps) {
  const names = useNames();
  const listed = useInfiniteQuery(foundErrorsQuery({ q, emitter, within }));
  return (
    <Listed
      title={T.errors.single}
      of={listed}
      empty={<Empty icon="search" title={T.errors.noneSingle} text={T.errors.noneSingleText} />}
      row={({ id, indexed_at_ms: ms, error, metadata, workflow_name: name }) => (
        <li key={id} className="group-link">
          <div className="grow cut">
            <ErrorLink
              id={id}
              emitterId={metadata.emitter_id}
              groupId={metadata.group_id ?? null}
              text={<Said>{error.msg || T.errors.noMessage}</Said>}
            />
            <div className="soft cut">
              <Foreign>{error.code}</Foreign> · <Foreign>{name ?? names(metadata.emitter_id)}</Foreign>
            </div>
          </div>
          <span className="soft nowrap">
            <At ms={ms} />
          </span>
        </li>
      )}
    />
  );
}
