import { Graph, layout as placeWithDagre } from '@dagrejs/dagre';
import { defined } from '../../graph/defined.js';

/** Boxes and arrows to place. Arrows name boxes by index; one that leads back to an earlier box is `isBack`. */
export interface LayoutRequest {
  readonly boxes: readonly Size[];
  readonly arrows: readonly LayoutArrow[];
  /** The width to keep to. Default: no limit. */
  readonly room?: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface LayoutArrow {
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
const GAP_Y = 40;
const ARROW_GAP = 14;
/** The distance of an arrow from the corners of its box. */
const INSET = 20;
/** The most boxes that are placed for the shortest arrows, which takes longer than the other way. */
const MAX_BOXES_OF_SHORTEST = 200;
/** The most rows that the arrows of a layout in rows pass, for each box. With more of them no eye follows an arrow. */
const ROWS_PER_BOX = 1.5;
/** Between two boxes of a column. */
const COLUMN_GAP = 28;
const LANE_GAP = 8;
/** The most lanes, and the most of the room that they take. */
const MAX_LANES = 24;
const LANES_PART = 0.35;

/**
 * Places boxes in rows, each below the boxes with an arrow to it, with dagre; where these do not fit the room, or arrows
 * pass too many rows, one below the other, with lanes for the arrows beside them. Arrows never pass through boxes. The
 * same request gives the same layout.
 */
export function layoutOf(request: LayoutRequest): Layout {
  const { boxes, room = Infinity } = request;
  if (boxes.length === 0) return { width: 0, height: 0, boxes: [], arrows: [] };
  const layout = mayFitInRows(request) ? layoutInRows(request) : undefined;
  return layout !== undefined && layout.width <= room ? layout : layoutInColumn(request);
}

/** Whether rows may be narrow enough. Cheap beside placing them. */
function mayFitInRows({ boxes, arrows, room = Infinity }: LayoutRequest): boolean {
  const rows = longestPaths(boxes.length, arrows);
  const passed = arrows.reduce(
    (sum, { from, to }) => sum + Math.max(0, Math.abs((rows[to] ?? 0) - (rows[from] ?? 0)) - 1),
    0,
  );
  const widths = new Map<number, number>();
  for (const [index, { width }] of boxes.entries()) {
    const row = rows[index] ?? 0;
    const others = widths.get(row);
    widths.set(row, others === undefined ? width : others + GAP_X + width);
  }
  return passed <= boxes.length * ROWS_PER_BOX && [...widths.values()].every((width) => width <= room);
}

function layoutInRows({ boxes, arrows }: LayoutRequest): Layout {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    nodesep: GAP_X,
    edgesep: ARROW_GAP,
    ranksep: GAP_Y,
    ranker: boxes.length > MAX_BOXES_OF_SHORTEST ? 'tight-tree' : 'network-simplex',
  });
  for (const [index, { width, height }] of boxes.entries()) graph.setNode(`b${index}`, { width, height });
  for (const [index, arrow] of arrows.entries()) {
    if (arrow.from === arrow.to) continue;
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
  const right = Math.max(...frames.map((frame) => frame.x + frame.width));
  const paths = arrows.map(({ from, to, isBack, label: text }, index): ArrowPath => {
    const [start, end] = [frames[from] as Frame, frames[to] as Frame];
    if (from === to) {
      const leave = (rows.get(start.row)?.bottom ?? 0) + GAP_Y / 4;
      const arrive = (rows.get(end.row)?.top ?? 0) - GAP_Y / 4;
      const track = right + ARROW_GAP;
      const points = around(start, end, { leave, track, arrive });
      if (text === undefined) return { points };
      return { points, label: rounded(track + text.width / 2, (leave + arrive) / 2) };
    }
    const [v, w] = isBack === true ? [to, from] : [from, to];
    const edge = graph.edge({ v: `b${v}`, w: `b${w}`, name: `a${index}` }) as Edge;
    const label = edge.x === undefined || edge.y === undefined ? {} : { label: rounded(edge.x, edge.y) };
    return start.y < end.y
      ? { points: between(start, end, rows, edge), ...label }
      : { points: between(end, start, rows, edge).reverse(), ...label };
  });
  return framed(frames, paths, arrows);
}

/** How boxes and arrows share a column. It depends on no size. */
interface Column {
  /** The boxes from top to bottom, each below those with an arrow ahead to it. */
  readonly order: readonly number[];
  /** The lane of each arrow that leads past a box. */
  readonly lanes: readonly (number | undefined)[];
  /** Of the lanes. */
  readonly width: number;
}

/** Arrows that lead from one box, or to one box, share a lane; lanes are used again further down. */
export function columnOf(count: number, arrows: readonly LayoutArrow[], room = Infinity): Column {
  const order = orderOf(count, arrows);
  const rows = new Array<number>(count).fill(0);
  for (const [row, index] of order.entries()) rows[index] = row;
  const rowsOfArrow = ({ from, to }: LayoutArrow): [number, number] => [rows[from] ?? 0, rows[to] ?? 0];
  const long = arrows.filter((arrow) => {
    const [from, to] = rowsOfArrow(arrow);
    return to !== from + 1;
  });
  const leaving = countBy(long, ({ from }) => from);
  const arriving = countBy(long, ({ to }) => to);
  const keyOf = ({ from, to, isBack }: LayoutArrow): string =>
    `${isBack === true} ${(arriving.get(to) ?? 0) > (leaving.get(from) ?? 0) ? `to ${to}` : `from ${from}`}`;
  const spans = new Map<string, { readonly top: number; readonly bottom: number }>();
  for (const arrow of long) {
    const ends = rowsOfArrow(arrow);
    const { top, bottom } = spans.get(keyOf(arrow)) ?? { top: Infinity, bottom: -1 };
    spans.set(keyOf(arrow), { top: Math.min(top, ...ends), bottom: Math.max(bottom, ...ends) });
  }
  const most = Math.max(1, Math.min(MAX_LANES, Math.floor((room * LANES_PART) / LANE_GAP)));
  const bottoms: number[] = [];
  const laneOf = new Map<string, number>();
  for (const [key, { top, bottom }] of [...spans].sort(([, one], [, other]) => one.top - other.top)) {
    const unused = bottoms.findIndex((last) => last <= top);
    const lane = unused === -1 ? bottoms.length % most : unused;
    laneOf.set(key, lane);
    bottoms[lane] = Math.max(bottom, bottoms[lane] ?? -1);
  }
  const isLong = new Set(long);
  return {
    order,
    lanes: arrows.map((arrow) => (isLong.has(arrow) ? laneOf.get(keyOf(arrow)) : undefined)),
    width: bottoms.length === 0 ? 0 : LANE_GAP * (bottoms.length + 1),
  };
}

function countBy(arrows: readonly LayoutArrow[], keyOf: (arrow: LayoutArrow) => number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const arrow of arrows) counts.set(keyOf(arrow), (counts.get(keyOf(arrow)) ?? 0) + 1);
  return counts;
}

function layoutInColumn({ boxes, arrows, room }: LayoutRequest): Layout {
  const { order, lanes } = columnOf(boxes.length, arrows, room);
  const right = Math.max(...boxes.map(({ width }) => width));
  const frames: Frame[] = [];
  const paths: ArrowPath[] = [];
  const arrivals = boxes.map((): number[] => []);
  for (const [index, { to }] of arrows.entries()) arrivals[to]?.push(index);
  /** The upper edges of the texts of arrows. */
  const levels: number[] = [];
  let y = 0;
  for (const [row, index] of order.entries()) {
    const into = arrivals[index] ?? [];
    let top = y + COLUMN_GAP / 3;
    for (const arrow of into) {
      const height = arrows[arrow]?.label?.height ?? 0;
      if (height === 0) continue;
      levels[arrow] = top;
      top += height + 6;
    }
    const { width, height } = boxes[index] as Size;
    y = row === 0 && into.length === 0 ? 0 : top + (2 * COLUMN_GAP) / 3;
    frames[index] = { x: Math.round((right - width) / 2), y: Math.round(y), width, height, row };
    y = Math.round(y) + height;
  }
  const straight = new Map<string, number>();
  for (const [index, { from, to, label }] of arrows.entries()) {
    const [start, end] = [frames[from] as Frame, frames[to] as Frame];
    const lane = lanes[index];
    const height = label?.height ?? 0;
    const level = Math.round(levels[index] ?? 0);
    const arrive = height === 0 ? Math.round(end.y - COLUMN_GAP / 3) : level + height + 2;
    if (lane !== undefined) {
      const track = right + LANE_GAP * (lane + 1);
      const leave = Math.round(start.y + start.height + COLUMN_GAP / 4);
      paths[index] = {
        points: around(start, end, { leave, track, arrive }),
        ...defined({ label: label && rounded(track - label.width / 2, level + height / 2) }),
      };
      continue;
    }
    const pair = `${from} ${to}`;
    const beside = straight.get(pair) ?? 0;
    straight.set(pair, beside + 1);
    const x = portOf(start, portOf(end, Math.round(right / 2) + beside * ARROW_GAP));
    paths[index] = {
      points: [
        { x, y: start.y + start.height },
        { x, y: end.y },
      ],
      ...defined({ label: label && rounded(x, level + height / 2) }),
    };
  }
  return framed(frames, paths, arrows);
}

/** The boxes, each after those with an arrow ahead to it, else in their order. Those of a circle are the last ones. */
function orderOf(count: number, arrows: readonly LayoutArrow[]): number[] {
  const rows = longestPaths(count, arrows);
  const isOrdered = arrows.every(({ from, to, isBack }) => isBack === true || from <= to);
  const indexes = [...rows.keys()];
  return isOrdered
    ? indexes
    : indexes.sort((one, other) => (rows[one] ?? 0) - (rows[other] ?? 0) || one - other);
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
  const startX = portOf(upper, through[0]?.x ?? Math.round(lower.x + lower.width / 2));
  const endX = portOf(lower, through.at(-1)?.x ?? startX);
  return withoutRepeats([
    { x: startX, y: upper.y + upper.height },
    { x: startX, y: rows.get(upper.row)?.bottom ?? 0 },
    ...inner,
    { x: endX, y: rows.get(lower.row)?.top ?? 0 },
    { x: endX, y: lower.y },
  ]);
}

/** The way from a box to another one along a track beside all boxes, in the gaps below the one and above the other. */
function around(
  start: Frame,
  end: Frame,
  { leave, track, arrive }: Readonly<Record<'leave' | 'track' | 'arrive', number>>,
): Point[] {
  const [out, into] = [portOf(start, track), portOf(end, track)];
  return [
    { x: out, y: start.y + start.height },
    { x: out, y: leave },
    { x: track, y: leave },
    { x: track, y: arrive },
    { x: into, y: arrive },
    { x: into, y: end.y },
  ];
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
  arrows: readonly LayoutArrow[],
): Layout {
  const areas = [
    ...frames,
    ...paths.flatMap(({ points }) => points.map((point) => ({ ...point, width: 0, height: 0 }))),
    ...paths.flatMap(({ label }, index) => {
      const { width, height } = arrows[index]?.label ?? { width: 0, height: 0 };
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
