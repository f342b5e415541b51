import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { SourceWhole } from '../../../src/client/client.ts';
import { sourcesQuery } from '../api/sources.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { useMay } from '../parts/act.ts';
import { WholeList } from '../parts/listed.tsx';
import { Badge, Empty } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';
import { Ago } from '../parts/time.tsx';

export function SourceList() {
  const mayWrite = useMay('write');
  return (
    <>
      <div className="page-head">
        <Heading text={T.sources.title} />
        <span className="grow" />
        {mayWrite && (
          <Link to="/sources/new" className="button-link is-main">
            {T.sources.create}
          </Link>
        )}
      </div>
      <section className="card" aria-label={T.sources.title}>
        <WholeList
          of={useQuery(sourcesQuery)}
          usual={8}
          empty={<Empty icon="sources" title={T.sources.none} text={T.sources.noneText} command={T.sources.command} />}
          row={(source) => (
            <li key={source.id} className="group-link">
              <div className="grow">
                <Link to="/sources/$sourceId" params={{ sourceId: source.id }}>
                  <Foreign>{source.name}</Foreign>
                </Link>
                <div className="soft cut">
                  <Foreign>{kindOf(source)}</Foreign>
                </div>
              </div>
              <Badge
                state={source.active ? 'active' : 'paused'}
                text={source.active ? T.workflows.active : T.workflows.inactive}
              />
              <span className="soft">
                <Ago ms={source.updated_at * 1000} />
              </span>
            </li>
          )}
        />
      </section>
    </>
  );
}

/** What a source is made of, and how it is reached. */
export function kindOf({ component, component_path: path, endpoint_url: url }: SourceWhole): string {
  return [component ?? path ?? T.sources.ownCode, url].filter(Boolean).join(' · ');
}
