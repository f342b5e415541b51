import { type PointerEvent, useMemo, useRef, useState } from 'react';
import { T } from '../english.ts';
import { Scrollable } from '../parts/scrollable.tsx';
import { type Edge, NODE, place } from './layout.ts';
import { NodeLink } from './node-link.tsx';
import type { Ends } from './subscribe.tsx';

interface GraphProps {
  readonly edges: readonly Edge[];
  readonly names: (id: string) => string;
  /** Called when one was drawn to another; null: nothing can be drawn. */
  readonly link: ((ends: Ends) => void) | null;
}

interface Drag {
  readonly from: string;
  readonly x: number;
  readonly y: number;
}

/** Who hears whom, from left to right. The list beside it says the same in words. */
export function Graph({ edges, names, link }: GraphProps) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const inner = useRef<HTMLDivElement>(null);
  const placeOf = ({ clientX, clientY }: PointerEvent): { x: number; y: number } => {
    const box = inner.current?.getBoundingClientRect();
    return { x: clientX - (box?.left ?? 0), y: clientY - (box?.top ?? 0) };
  };
  const end = (event: PointerEvent): void => {
    const over = document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>('[data-node]');
    const listener = over?.dataset.node;
    setDrag(null);
    if (drag && listener !== undefined && listener !== drag.from && isListener(listener)) {
      link?.({ emitter: drag.from, listener });
    }
  };
  const { width, height, nodes, edges: placed } = useMemo(() => place(edges), [edges]);
  const start = nodes.find(({ id }) => id === drag?.from);
  return (
    <Scrollable className="graph" label={T.subscriptions.graph}>
      <div
        ref={inner}
        className="graph-inner"
        style={{ width, height }}
        onPointerMove={(event) => drag && setDrag({ ...drag, ...placeOf(event) })}
        onPointerUp={end}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => setDrag(null)}
      >
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
          {drag && start && (
            <line className="edge is-drawn" x1={start.x + NODE.width / 2} y1={start.y} x2={drag.x} y2={drag.y} />
          )}
        </svg>
        {nodes.map(({ id, x, y }) => (
          <div
            key={id}
            data-node={id}
            className={`graph-node is-${kindOf(id)}`}
            style={{ left: x - NODE.width / 2, top: y - NODE.height / 2, width: NODE.width, height: NODE.height }}
          >
            <NodeLink id={id} name={names(id)} />
            {link !== null && (
              <span
                className="graph-port"
                aria-hidden="true"
                onPointerDown={(event) => {
                  event.preventDefault();
                  setDrag({ from: id, ...placeOf(event) });
                }}
              />
            )}
          </div>
        ))}
      </div>
    </Scrollable>
  );
}

/** Workflows, sources and webhooks listen; heartbeats and "all of a kind" do not. */
function isListener(id: string): boolean {
  return /^(p|dc|wh)_\w/.test(id);
}

function kindOf(id: string): string {
  return { p: 'workflow', dc: 'source', wh: 'webhook', hb: 'heartbeat' }[id.slice(0, id.indexOf('_'))] ?? 'all';
}
