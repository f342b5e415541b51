import { useMemo } from 'react';
import { T } from '../english.ts';
import { Scrollable } from '../parts/scrollable.tsx';
import { type Edge, NODE, place } from './layout.ts';
import { NodeLink } from './node-link.tsx';

/** Who hears whom, from left to right. The list beside it says the same in words. */
export function Graph({ edges, names }: { edges: readonly Edge[]; names: (id: string) => string }) {
  const { width, height, nodes, edges: placed } = useMemo(() => place(edges), [edges]);
  return (
    <Scrollable className="graph" label={T.subscriptions.graph}>
      <div className="graph-inner" style={{ width, height }}>
        <svg width={width} height={height} aria-hidden="true">
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 8 4 0 8z" />
            </marker>
          </defs>
          {placed.map(({ edge, path, x, y }) => (
            <g key={edge.id} className={edge.event_name === '$errors' ? 'is-errors' : undefined}>
              <path className="edge" d={path} markerEnd="url(#arrow)" />
              {edge.event_name !== '' && (
                <text x={x} y={y - 5} textAnchor="middle">
                  {edge.event_name.slice(0, 18)}
                </text>
              )}
            </g>
          ))}
        </svg>
        {nodes.map(({ id, x, y }) => (
          <div
            key={id}
            className={`graph-node is-${kindOf(id)}`}
            style={{ left: x - NODE.width / 2, top: y - NODE.height / 2, width: NODE.width, height: NODE.height }}
          >
            <NodeLink id={id} name={names(id)} />
          </div>
        ))}
      </div>
    </Scrollable>
  );
}

function kindOf(id: string): string {
  return { p: 'workflow', dc: 'source', wh: 'webhook', hb: 'heartbeat' }[id.slice(0, id.indexOf('_'))] ?? 'all';
}
