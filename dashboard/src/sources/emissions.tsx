import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { EventRecord } from '../../../src/client/client.ts';
import { emissionQuery, emissionsQuery } from '../api/sources.ts';
import { T } from '../english.ts';
import { JsonTree } from '../parts/json-tree.tsx';
import { Listed } from '../parts/listed.tsx';
import { Empty, Unready } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago } from '../parts/time.tsx';

/** What a source emitted, newest first; each opens to its event. */
export function Emissions({ sourceId }: { sourceId: string }) {
  return (
    <Listed
      title={T.sources.emissions}
      of={useInfiniteQuery(emissionsQuery(sourceId))}
      row={(emission) => <Row key={emission.id} emission={emission} sourceId={sourceId} />}
      empty={
        <Empty
          icon="sources"
          title={T.sources.noEmissions}
          text={T.sources.noEmissionsText}
          command={T.sources.runIt(sourceId)}
        />
      }
    />
  );
}

function Row({ emission, sourceId }: { emission: EventRecord; sourceId: string }) {
  const [isOpen, setOpen] = useState(false);
  const { id, indexed_at_ms: atMs, metadata } = emission;
  return (
    <li className="is-block">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="row-summary">
          <span className="grow cut">
            <Foreign>{metadata.summary ?? metadata.id ?? id}</Foreign>
          </span>
          {metadata.name !== '' && <code className="soft">{metadata.name}</code>}
          <span className="soft">
            <Ago ms={atMs} />
          </span>
        </summary>
        {isOpen && <Whole sourceId={sourceId} id={id} />}
      </details>
    </li>
  );
}

function Whole({ sourceId, id }: { sourceId: string; id: string }) {
  const asked = useQuery(emissionQuery(sourceId, id));
  const { data } = asked;
  if (!data) return <Unready of={asked} />;
  return <JsonTree value={data.event ?? null} />;
}
