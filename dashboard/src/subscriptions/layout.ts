// Where the nodes and edges of the graph stand.

import { Graph, layout } from '@dagrejs/dagre';
import type { Subscription } from '../../../src/client/client.ts';

/** How high an arc stands over what hears itself. */
const LOOP = 34;
export const NODE = { width: 176, height: 40 } as const;

export type Edge = Pick<Subscription, 'id' | 'emitter_id' | 'listener_id' | 'event_name'>;

export interface Placed {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly { readonly id: string; readonly x: number; readonly y: number }[];
  readonly edges: readonly { readonly edge: Edge; readonly path: string; readonly x: number; readonly y: number }[];
}

export function place(edges: readonly Edge[]): Placed {
  const graph = new Graph({ multigraph: true });
  const loops = edges.some(({ emitter_id, listener_id }) => emitter_id === listener_id);
  graph.setGraph({
    rankdir: 'LR',
    nodesep: loops ? LOOP : 18,
    ranksep: 110,
    edgesep: 14,
    marginx: 12,
    marginy: loops ? LOOP + 12 : 12,
  });
  for (const { emitter_id, listener_id } of edges) {
    for (const id of [emitter_id, listener_id]) graph.setNode(id, { ...NODE });
  }
  for (const { id, emitter_id, listener_id } of edges)
    if (emitter_id !== listener_id) graph.setEdge(emitter_id, listener_id, {}, id);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  // Edges that go around nodes may leave the height that was computed of the nodes.
  const lowest = Math.max(
    height,
    ...graph.edges().flatMap((edge) => graph.edge(edge).points.map((point: { y: number }) => point.y + 16)),
  );
  return {
    width,
    height: lowest,
    nodes: graph.nodes().map((id: string) => ({ id, x: graph.node(id).x, y: graph.node(id).y })),
    edges: edges.map((edge) => {
      const [from, to] = [graph.node(edge.emitter_id), graph.node(edge.listener_id)];
      if (edge.emitter_id === edge.listener_id) return { edge, ...loopOf(from) };
      const { points } = graph.edge({ v: edge.emitter_id, w: edge.listener_id, name: edge.id }) as {
        points: readonly { x: number; y: number }[];
      };
      const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
      const isForth = to.x - from.x > NODE.width;
      const ends = [
        { x: from.x + NODE.width / 2, y: from.y },
        { x: to.x - NODE.width / 2, y: to.y },
      ] as const;
      // From side to side: an edge from corner to corner crosses the nodes above and below.
      const path = isForth ? pathOf([ends[0], ...points.slice(1, -1), ends[1]]) : pathOf(points);
      return { edge, path, ...middle };
    }),
  };
}

/** What hears itself: an arc over its own top, within the space that the layout leaves for it on its side. */
function loopOf({ x, y }: { x: number; y: number }): Pick<Placed['edges'][number], 'path' | 'x' | 'y'> {
  const [top, left, right] = [y - NODE.height / 2, x - NODE.width / 6, x + NODE.width / 6];
  return {
    path: `M${right},${top} C${right + 16},${top - LOOP} ${left - 16},${top - LOOP} ${left},${top}`,
    x,
    y: top - LOOP + 6,
  };
}

/** A curve through the middles between the points. */
function pathOf(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (!first || !last) return '';
  const curves = rest.slice(0, -1).map((point, at) => {
    const next = rest[at + 1] ?? point;
    return `Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`;
  });
  return `M${first.x},${first.y} ${curves.join(' ')} L${last.x},${last.y}`;
}
