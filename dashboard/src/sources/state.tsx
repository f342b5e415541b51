// What a source keeps between its runs.

import { useInfiniteQuery } from '@tanstack/react-query';
import { sourceStateQuery } from '../api/sources.ts';
import { T } from '../english.ts';
import { Card } from '../parts/card.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { More } from '../parts/listed.tsx';
import { Rows } from '../parts/lists/rows.tsx';
import { Unready } from '../parts/state.tsx';
import { Foreign } from '../parts/text/foreign.tsx';

export function State({ sourceId }: { sourceId: string }) {
  const listed = useInfiniteQuery(sourceStateQuery(sourceId));
  const { data } = listed;
  const values = data?.pages.flatMap((page) => page.values) ?? [];
  return (
    <Card title={T.sources.state}>
      {!data && <Unready of={listed} rows={1} />}
      {data?.pages[0]?.count === 0 && <p className="soft card-body">{T.sources.noState}</p>}
      {data && (
        <Rows
          all={values.map((one, at) => ({ ...one, at }))}
          row={({ at, name, value, chars }) => (
            <li key={name ?? at} className="is-block">
              <div className="state-name break">
                {name === null ? (
                  <span className="soft">{T.sources.longName}</span>
                ) : (
                  <code>
                    <Foreign>{name}</Foreign>
                  </code>
                )}
              </div>
              {value === undefined ? (
                <p className="soft state-name">{T.sources.tooLong(chars)}</p>
              ) : (
                <JsonTree value={value} />
              )}
            </li>
          )}
        />
      )}
      <More of={listed} />
    </Card>
  );
}
