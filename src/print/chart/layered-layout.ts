/** Boxes and arrows to place, by index. An arrow from a later layer to an earlier one is `back`. */
export interface LayoutRequest {
  readonly boxes: readonly { readonly width: number; readonly height: number }[];
  readonly arrows: readonly { readonly from: number; readonly to: number; readonly isBack?: boolean }[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where boxes and arrows are. All numbers are whole, and none is negative. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  /** The upper left corners. */
  readonly boxes: readonly Point[];
  /** For each arrow the points it goes through, from the lower edge of its start to the upper edge of its end. */
  readonly arrows: readonly (readonly Point[])[];
}

const GAP_X = 28;
const GAP_Y = 44;
const BEND_WIDTH = 12;

/** How often the order of each layer follows its neighbours. */
const SWEEPS = 4;

/** Bends keep a long arrow beside the boxes. Beyond so many for each box, long arrows are straight. */
const BENDS_PER_BOX = 8;

/** A box, or a bend of an arrow that passes its layer. */
interface Item {
  readonly width: number;
  readonly height: number;
  readonly layer: number;
  x: number;
  readonly above: Item[];
  readonly below: Item[];
}

/**
 * Places boxes in layers, each below all boxes with an arrow to it (Sugiyama, Tagawa and Toda 1981): layers by the longest
 * path, their order by the means of their neighbours, their places by isotonic regression. The work is nearly linear in
 * boxes and arrows, and the same request gives the same layout.
 */
export function layeredLayout({ boxes, arrows }: LayoutRequest): Layout {
  if (boxes.length === 0) return { width: 0, height: 0, boxes: [], arrows: [] };
  const layerOf = layersOf(boxes.length, arrows);
  const items = boxes.map(
    ({ width, height }, index): Item => ({
      ...{ width, height, x: 0, above: [], below: [] },
      layer: layerOf[index] ?? 0,
    }),
  );
  const bends = bendsOf(items, arrows);
  const layers: Item[][] = [];
  for (const item of [...items, ...bends.flat()]) {
    layers[item.layer] ??= [];
    layers[item.layer]?.push(item);
  }
  order(layers);
  place(layers);
  const left = Math.min(...items.map(({ x, width }) => x - width / 2), ...bends.flat().map(({ x }) => x));
  const tops = topsOf(layers);
  const centre = (item: Item): number => Math.round(item.x - left);
  const corners = items.map((item) => {
    const { top, height } = tops[item.layer] ?? { top: 0, height: 0 };
    return { x: Math.round(centre(item) - item.width / 2), y: Math.round(top + (height - item.height) / 2) };
  });
  const paths = arrows.map(({ from, to, isBack }, index) => {
    const start = { item: items[from] as Item, corner: corners[from] as Point };
    const end = { item: items[to] as Item, corner: corners[to] as Point };
    if (isBack === true) return backPath(start, end);
    const through = (bends[index] ?? []).flatMap((bend) => {
      const { top, height } = tops[bend.layer] ?? { top: 0, height: 0 };
      const x = centre(bend);
      return [
        { x, y: top },
        { x, y: top + height },
      ];
    });
    return [
      { x: centre(start.item), y: start.corner.y + start.item.height },
      ...through,
      { x: centre(end.item), y: end.corner.y },
    ];
  });
  const last = tops.at(-1);
  const right = [
    ...items.map((item, index) => (corners[index]?.x ?? 0) + item.width),
    ...paths.flat().map(({ x }) => x),
  ].reduce((one, other) => Math.max(one, other), 0);
  return { width: right, height: (last?.top ?? 0) + (last?.height ?? 0), boxes: corners, arrows: paths };
}

/** The layer of each box: one below the lowest box with an arrow to it. Arrows of circles count as far as they are free of them. */
function layersOf(count: number, arrows: LayoutRequest['arrows']): number[] {
  const ahead = arrows.filter(({ from, to, isBack }) => isBack !== true && from !== to);
  const next = Array.from({ length: count }, (): number[] => []);
  const waits = new Array<number>(count).fill(0);
  for (const { from, to } of ahead) {
    next[from]?.push(to);
    waits[to] = (waits[to] ?? 0) + 1;
  }
  const layers = new Array<number>(count).fill(0);
  const ready = [...layers.keys()].filter((index) => waits[index] === 0);
  for (let at = 0; at < ready.length; at += 1) {
    const from = ready[at] ?? 0;
    for (const to of next[from] ?? []) {
      layers[to] = Math.max(layers[to] ?? 0, (layers[from] ?? 0) + 1);
      waits[to] = (waits[to] ?? 0) - 1;
      if (waits[to] === 0) ready.push(to);
    }
  }
  return layers;
}

/** Joins the boxes by their arrows, with a bend in each layer between. @returns the bends of each arrow. */
function bendsOf(items: readonly Item[], arrows: LayoutRequest['arrows']): Item[][] {
  const isAhead = ({ from, to, isBack }: LayoutRequest['arrows'][number]): boolean =>
    isBack !== true && (items[to]?.layer ?? 0) > (items[from]?.layer ?? 0);
  let left = items.length * BENDS_PER_BOX;
  return arrows.map((arrow) => {
    if (!isAhead(arrow)) return [];
    const start = items[arrow.from] as Item;
    const end = items[arrow.to] as Item;
    const count = end.layer - start.layer - 1;
    const isBent = count <= left;
    if (isBent) left -= count;
    const bends = Array.from(
      { length: isBent ? count : 0 },
      (_, index): Item => ({
        ...{ width: BEND_WIDTH, height: 0, x: 0, above: [], below: [] },
        layer: start.layer + 1 + index,
      }),
    );
    const chain = [start, ...bends, end];
    for (const [index, item] of chain.entries()) {
      const following = chain[index + 1];
      if (following === undefined) continue;
      item.below.push(following);
      following.above.push(item);
    }
    return bends;
  });
}

function order(layers: readonly Item[][]): void {
  const number = (): void => {
    for (const layer of layers) for (const [index, item] of layer.entries()) item.x = index;
  };
  const sort = (layer: Item[], side: 'above' | 'below'): void => {
    const keys = new Map(layer.map((item) => [item, meanOf(item[side]) ?? item.x]));
    layer.sort((one, other) => (keys.get(one) ?? 0) - (keys.get(other) ?? 0));
    for (const [index, item] of layer.entries()) item.x = index;
  };
  number();
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const layer of layers) sort(layer, 'above');
    for (const layer of [...layers].reverse()) sort(layer, 'below');
  }
  for (const layer of layers) sort(layer, 'above');
}

function meanOf(items: readonly Item[]): number | undefined {
  return items.length === 0 ? undefined : items.reduce((sum, { x }) => sum + x, 0) / items.length;
}

function place(layers: readonly Item[][]): void {
  for (const layer of layers) spread(layer, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const layer of layers) spread(layer, ({ above, x }) => meanOf(above) ?? x);
    for (const layer of [...layers].reverse()) spread(layer, ({ below, x }) => meanOf(below) ?? x);
  }
}

/** Places the items of a layer as near to where they want to be as their order and their widths allow. */
function spread(layer: readonly Item[], wanted: (item: Item) => number): void {
  const offsets: number[] = [];
  let offset = 0;
  for (const [index, item] of layer.entries()) {
    const before = layer[index - 1];
    offset += before === undefined ? 0 : (before.width + item.width) / 2 + GAP_X;
    offsets.push(offset);
  }
  // Pools of adjacent violators: places without their offsets must not decrease.
  const pools: { sum: number; count: number }[] = [];
  for (const [index, item] of layer.entries()) {
    let pool = { sum: wanted(item) - (offsets[index] ?? 0), count: 1 };
    for (let last = pools.at(-1); last !== undefined; last = pools.at(-1)) {
      if (last.sum / last.count < pool.sum / pool.count) break;
      pool = { sum: last.sum + pool.sum, count: last.count + pool.count };
      pools.pop();
    }
    pools.push(pool);
  }
  let index = 0;
  for (const { sum, count } of pools) {
    for (let each = 0; each < count; each += 1, index += 1) {
      const item = layer[index];
      if (item !== undefined) item.x = sum / count + (offsets[index] ?? 0);
    }
  }
}

function topsOf(layers: readonly Item[][]): { readonly top: number; readonly height: number }[] {
  let top = 0;
  return layers.map((layer) => {
    const height = layer.reduce((most, item) => Math.max(most, item.height), 0);
    const own = { top, height };
    top += height + GAP_Y;
    return own;
  });
}

interface Placed {
  readonly item: Item;
  readonly corner: Point;
}

/** An arrow back goes around the right sides. */
function backPath(start: Placed, end: Placed): Point[] {
  const from = {
    x: start.corner.x + start.item.width,
    y: Math.round(start.corner.y + start.item.height / 2),
  };
  const to = { x: end.corner.x + end.item.width, y: Math.round(end.corner.y + end.item.height / 2) };
  const x = Math.max(from.x, to.x) + GAP_X;
  return [from, { x, y: from.y }, { x, y: to.y }, to];
}
