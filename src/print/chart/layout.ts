import { Graph, layout as placeWithDagre } from '@dagrejs/dagre';
import { defined } from '../../graph/defined.js';

/** Boxes and arrows to place. Arrows name boxes by index; one that leads back to an earlier box is `isBack`. */
export interface LayoutRequest {
  readonly boxes: readonly Size[];
  readonly arrows: readonly LayoutArrow[];
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

interface LayoutArrow {
  readonly from: number;
  readonly to: number;
  readonly isBack?: boolean;
  /** The size of the text on the arrow. */
  readonly label?: Size;
}

/** The way of an arrow, from the edge of one box to the edge of another. */
export interface ArrowPath {
  readonly points: readonly Point[];
  /** The centre of its text. */
  readonly label?: Point;
}

/** The places of boxes and arrows. All numbers are whole, and none is negative. */
export interface Layout extends Size {
  /** The upper left corners. */
  readonly boxes: readonly Point[];
  readonly arrows: readonly ArrowPath[];
}

const GAP_X = 32;
const GAP_Y = 48;
const ARROW_GAP = 14;
/** The distance of an arrow from the corners of its box. */
const INSET = 20;
/** The most boxes that are placed for the shortest arrows, which takes longer than the other way. */
const MAX_BOXES_OF_SHORTEST = 200;
/** The most rows that the arrows of a layout pass, for each box. Longer arrows lead around the boxes. */
const ROWS_PER_BOX = 5;
/** The most tracks beside the boxes for arrows that lead around them. */
const MAX_TRACKS = 12;

/**
 * Places boxes in rows, each below the boxes with an arrow to it, with dagre. Arrows pass between boxes, never through
 * them. The same request gives the same layout.
 */
export function layoutOf({ boxes, arrows }: LayoutRequest): Layout {
  if (boxes.length === 0) return { width: 0, height: 0, boxes: [], arrows: [] };
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    nodesep: GAP_X,
    edgesep: ARROW_GAP,
    ranksep: GAP_Y,
    ranker: boxes.length > MAX_BOXES_OF_SHORTEST ? 'tight-tree' : 'network-simplex',
  });
  for (const [index, { width, height }] of boxes.entries()) graph.setNode(`b${index}`, { width, height });
  const isRouted = routedArrows(boxes.length, arrows);
  for (const [index, arrow] of arrows.entries()) {
    if (!isRouted[index]) continue;
    // An arrow back is placed like one ahead, so that rows follow the arrows ahead.
    const [above, below] = arrow.isBack === true ? [arrow.to, arrow.from] : [arrow.from, arrow.to];
    graph.setEdge(`b${above}`, `b${below}`, { ...arrow.label, labelpos: 'c' }, `a${index}`);
  }
  placeWithDagre(graph);
  const frames = boxes.map(({ width, height }, index) => {
    const { x, y } = graph.node(`b${index}`) as Point;
    return { x: Math.round(x - width / 2), y: Math.round(y - height / 2), width, height, row: rowKey(y) };
  });
  const rows = rowsOf(frames);
  const width = Math.max(...frames.map((frame) => frame.x + frame.width));
  const tracks = [...new Set(arrows.flatMap(({ from }, index) => (isRouted[index] ? [] : [from])))];
  const paths = arrows.map(({ from, to, isBack, label: text }, index): ArrowPath => {
    const [start, end] = [frames[from] as Frame, frames[to] as Frame];
    if (!isRouted[index]) {
      const track = width + ARROW_GAP * (1 + (tracks.indexOf(from) % MAX_TRACKS));
      return around(start, end, rows, track, text);
    }
    const [v, w] = isBack === true ? [to, from] : [from, to];
    const edge = graph.edge({ v: `b${v}`, w: `b${w}`, name: `a${index}` }) as Edge;
    const label = edge.x === undefined || edge.y === undefined ? {} : { label: rounded(edge.x, edge.y) };
    return start.y < end.y
      ? { points: between(start, end, rows, edge), ...label }
      : { points: between(end, start, rows, edge).reverse(), ...label };
  });
  return framed(
    frames,
    paths,
    arrows.map(({ label }) => label),
  );
}

interface Frame extends Point, Size {
  readonly row: number;
}

/** The upper and the lower edge of the boxes of a row. */
interface Row {
  readonly top: number;
  readonly bottom: number;
}

type Rows = ReadonlyMap<number, Row>;

/** An arrow as dagre places it. Its points are at the middles of rows, but for the first and the last one. */
interface Edge extends Partial<Point & Size> {
  readonly points: readonly Point[];
}

function rowKey(middle: number): number {
  return Math.round(middle * 4);
}

function rowsOf(frames: readonly Frame[]): Rows {
  const rows = new Map<number, Row>();
  for (const { row, y, height } of frames) {
    const { top, bottom } = rows.get(row) ?? { top: y, bottom: y + height };
    rows.set(row, { top: Math.min(top, y), bottom: Math.max(bottom, y + height) });
  }
  return rows;
}

/**
 * Which arrows pass between boxes: the shortest ones, as many as the layout has room for. One from a box to itself does
 * not.
 */
function routedArrows(count: number, arrows: readonly LayoutArrow[]): boolean[] {
  const rows = longestPaths(count, arrows);
  const spans = arrows.map(({ from, to }) => Math.abs((rows[to] ?? 0) - (rows[from] ?? 0)));
  const isRouted = new Array<boolean>(arrows.length).fill(false);
  let remaining = count * ROWS_PER_BOX;
  for (const index of [...spans.keys()].sort((one, other) => (spans[one] ?? 0) - (spans[other] ?? 0))) {
    remaining -= spans[index] ?? 0;
    isRouted[index] = remaining >= 0 && arrows[index]?.from !== arrows[index]?.to;
  }
  return isRouted;
}

/** The length of the longest path to each box. The boxes of a circle, and those after it, have the length before it. */
function longestPaths(count: number, arrows: readonly LayoutArrow[]): number[] {
  const next = Array.from({ length: count }, (): number[] => []);
  const waits = new Array<number>(count).fill(0);
  for (const { from, to, isBack } of arrows) {
    if (isBack === true || from === to) continue;
    next[from]?.push(to);
    waits[to] = (waits[to] ?? 0) + 1;
  }
  const lengths = new Array<number>(count).fill(0);
  const ready = [...lengths.keys()].filter((index) => waits[index] === 0);
  for (let at = 0; at < ready.length; at += 1) {
    const from = ready[at] ?? 0;
    for (const to of next[from] ?? []) {
      lengths[to] = Math.max(lengths[to] ?? 0, (lengths[from] ?? 0) + 1);
      waits[to] = (waits[to] ?? 0) - 1;
      if (waits[to] === 0) ready.push(to);
    }
  }
  return lengths;
}

/** The way from a box down to another one. It is vertical beside boxes, and oblique in the gaps between rows only. */
function between(upper: Frame, lower: Frame, rows: Rows, edge: Edge): Point[] {
  const through = edge.points
    .slice(1, -1)
    .filter(({ y }) => y > upper.y + upper.height && y < lower.y)
    .map(({ x, y }) => ({ x: Math.round(x), y }))
    .sort((one, other) => one.y - other.y);
  const inner = through.flatMap(({ x, y }) => {
    const row = rows.get(rowKey(y));
    if (row !== undefined)
      return [
        { x, y: row.top },
        { x, y: row.bottom },
      ];
    return y === edge.y ? [{ x, y: Math.round(y) }] : [];
  });
  const startX = portOf(upper, through[0]?.x ?? middleOf(lower));
  const endX = portOf(lower, through.at(-1)?.x ?? startX);
  return withoutRepeats([
    { x: startX, y: upper.y + upper.height },
    { x: startX, y: rows.get(upper.row)?.bottom ?? 0 },
    ...inner,
    { x: endX, y: rows.get(lower.row)?.top ?? 0 },
    { x: endX, y: lower.y },
  ]);
}

/** The way from a box to another one along a track beside all boxes, in the gaps below and above their rows. */
function around(start: Frame, end: Frame, rows: Rows, track: number, text?: Size): ArrowPath {
  const [out, into] = [portOf(start, track), portOf(end, track)];
  const leave = (rows.get(start.row)?.bottom ?? 0) + GAP_Y / 4;
  const arrive = (rows.get(end.row)?.top ?? 0) - GAP_Y / 4;
  const points = [
    { x: out, y: start.y + start.height },
    { x: out, y: leave },
    { x: track, y: leave },
    { x: track, y: arrive },
    { x: into, y: arrive },
    { x: into, y: end.y },
  ];
  if (text === undefined) return { points };
  return { points, label: rounded(track + text.width / 2, (leave + arrive) / 2) };
}

function middleOf({ x, width }: Frame): number {
  return Math.round(x + width / 2);
}

/** The place on the edge of a box that is nearest to `x`, without its corners. */
function portOf(frame: Frame, x: number): number {
  const inset = Math.min(INSET, Math.floor(frame.width / 2));
  return Math.min(Math.max(x, frame.x + inset), frame.x + frame.width - inset);
}

/** Leaves out points that are equal to the one before, or within a vertical line. */
function withoutRepeats(points: readonly Point[]): Point[] {
  return points
    .filter(({ x, y }, index) => x !== points[index - 1]?.x || y !== points[index - 1]?.y)
    .filter(({ x }, index, all) => x !== all[index - 1]?.x || x !== all[index + 1]?.x);
}

/** Moves a layout to the origin. */
function framed(
  frames: readonly Frame[],
  paths: readonly ArrowPath[],
  labels: readonly (Size | undefined)[],
): Layout {
  const areas = [
    ...frames,
    ...paths.flatMap(({ points }) => points.map((point) => ({ ...point, width: 0, height: 0 }))),
    ...paths.flatMap(({ label }, index) => {
      const { width, height } = labels[index] ?? { width: 0, height: 0 };
      return label === undefined ? [] : [{ x: label.x - width / 2, y: label.y - height / 2, width, height }];
    }),
  ];
  const minX = Math.floor(areas.reduce((least, { x }) => Math.min(least, x), Infinity));
  const top = Math.floor(areas.reduce((least, { y }) => Math.min(least, y), Infinity));
  const moved = ({ x, y }: Point): Point => ({ x: x - minX, y: y - top });
  return {
    width: Math.ceil(areas.reduce((most, { x, width }) => Math.max(most, x + width), 0)) - minX,
    height: Math.ceil(areas.reduce((most, { y, height }) => Math.max(most, y + height), 0)) - top,
    boxes: frames.map(moved),
    arrows: paths.map(({ points, label }) => ({
      points: points.map(moved),
      ...defined({ label: label && moved(label) }),
    })),
  };
}

function rounded(x: number, y: number): Point {
  return { x: Math.round(x), y: Math.round(y) };
}
