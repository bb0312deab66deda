import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LayoutRequest, layoutOf, type Point } from './layout.js';

const request = fc
  .array(fc.record({ width: fc.integer({ min: 1, max: 300 }), height: fc.integer({ min: 1, max: 90 }) }), {
    minLength: 1,
    maxLength: 30,
  })
  .chain((boxes) => {
    const index = fc.nat({ max: boxes.length - 1 });
    const arrow = fc
      .tuple(index, index)
      .filter(([one, other]) => one !== other)
      .map(([one, other]) => ({ from: Math.min(one, other), to: Math.max(one, other) }));
    const arrows = boxes.length < 2 ? fc.constant([]) : fc.array(arrow, { maxLength: 60 });
    return fc.record({ boxes: fc.constant(boxes), arrows, room: fc.constantFrom(200, 600, 10_000) });
  });

function overlaps({ boxes }: LayoutRequest, corners: readonly { x: number; y: number }[]): string[] {
  return boxes.flatMap((one, i) =>
    boxes.flatMap((other, j) => {
      const [a, b] = [corners[i], corners[j]];
      if (j <= i || a === undefined || b === undefined) return [];
      const isApart =
        a.x + one.width <= b.x ||
        b.x + other.width <= a.x ||
        a.y + one.height <= b.y ||
        b.y + other.height <= a.y;
      return isApart ? [] : [`${i} and ${j}`];
    }),
  );
}

/** The boxes that arrows enter. Curves stay in the rectangle around their ends, so that it may touch no box. */
function crossings({ boxes }: LayoutRequest, corners: readonly Point[], points: readonly Point[]): string[] {
  return points.slice(1).flatMap((to, index) => {
    const from = points[index] ?? to;
    const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
    const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
    return corners.flatMap(({ x, y }, box) => {
      const { width, height } = boxes[box] ?? { width: 0, height: 0 };
      const isApart = right <= x || left >= x + width || bottom <= y || top >= y + height;
      return isApart ? [] : [`${from.x} ${from.y} to ${to.x} ${to.y} enters ${box}`];
    });
  });
}

describe('the layout of a chart', () => {
  test('keeps boxes apart and in the frame, arrows downwards and out of boxes, and the same bytes', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const layout = layoutOf(asked);
        expect(overlaps(asked, layout.boxes)).toEqual([]);
        for (const [index, { x, y }] of layout.boxes.entries()) {
          expect(Number.isInteger(x) && Number.isInteger(y)).toBe(true);
          expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
          expect(x + (asked.boxes[index]?.width ?? 0)).toBeLessThanOrEqual(layout.width);
          expect(y + (asked.boxes[index]?.height ?? 0)).toBeLessThanOrEqual(layout.height);
        }
        for (const [arrow, { points }] of layout.arrows.entries()) {
          expect(crossings(asked, layout.boxes, points)).toEqual([]);
          const { from = 0, to = 0 } = asked.arrows[arrow] ?? {};
          expect(points[0]?.y).toBe((layout.boxes[from]?.y ?? 0) + (asked.boxes[from]?.height ?? 0));
          expect(points.at(-1)?.y).toBe(layout.boxes[to]?.y);
          for (const [index, { y }] of points.entries())
            expect(y).toBeGreaterThanOrEqual(points[index - 1]?.y ?? 0);
        }
        expect(layoutOf(asked)).toEqual(layout);
      }),
      { numRuns: 100 },
    );
  });

  test('leads an arrow back beside the arrow ahead, and from a box to itself around it', () => {
    const box = { width: 100, height: 40 };
    const asked = {
      boxes: [box, box],
      arrows: [
        { from: 0, to: 1 },
        { from: 1, to: 0, isBack: true },
        { from: 1, to: 1, isBack: true },
      ],
    };
    const { boxes, arrows } = layoutOf(asked);
    const [ahead, back, self] = arrows.map(({ points }) => points);
    expect(back?.[0]?.y).toBe(boxes[1]?.y);
    expect(back?.at(-1)?.y).toBe((boxes[0]?.y ?? 0) + 40);
    expect(back?.[0]?.x).not.toBe(ahead?.[0]?.x);
    expect(self?.[0]?.y).toBe((boxes[1]?.y ?? 0) + 40);
    expect(self?.at(-1)?.y).toBe(boxes[1]?.y);
    for (const points of [ahead, back, self]) expect(crossings(asked, boxes, points ?? [])).toEqual([]);
  });

  test('keeps the texts of arrows off boxes and in the frame', () => {
    const label = { width: 180, height: 48 };
    const box = { width: 100, height: 40 };
    const asked = {
      boxes: [box, box, box],
      arrows: [
        { from: 0, to: 1, label },
        { from: 0, to: 2, label },
      ],
    };
    const { boxes, arrows, width, height } = layoutOf(asked);
    for (const { label: centre } of arrows) {
      if (centre === undefined) throw new Error('no label');
      const [from, to] = [
        { x: centre.x - 90, y: centre.y - 24 },
        { x: centre.x + 90, y: centre.y + 24 },
      ];
      expect(crossings(asked, boxes, [from, to])).toEqual([]);
      expect(Math.min(from.x, from.y)).toBeGreaterThanOrEqual(0);
      expect([width - to.x, height - to.y].every((room) => room >= 0)).toBe(true);
    }
  });

  test('places boxes that do not fit side by side one below the other, with lanes for arrows', () => {
    const box = { width: 200, height: 40 };
    const arrows = [1, 2, 3].flatMap((middle) => [
      { from: 0, to: middle },
      { from: middle, to: 4, label: { width: 90, height: 16 } },
    ]);
    const asked = { boxes: [box, box, box, box, box], arrows };
    expect(layoutOf(asked).width).toBeGreaterThan(600);
    const { boxes, width, arrows: paths } = layoutOf({ ...asked, room: 260 });
    expect(width).toBeLessThanOrEqual(260);
    expect(new Set(boxes.map(({ x }) => x)).size).toBe(1);
    expect(boxes.map(({ y }) => y)).toEqual(boxes.map(({ y }) => y).sort((one, other) => one - other));
    for (const { points } of paths) expect(crossings(asked, boxes, points)).toEqual([]);
    // The arrows to the last box share a lane, and their texts have places of their own.
    const labels = paths.flatMap(({ label }) => label?.y ?? []);
    expect(new Set(labels).size).toBe(3);
  });

  test('ends for arrows in a circle', () => {
    const box = { width: 10, height: 10 };
    const circle = [
      { from: 0, to: 1 },
      { from: 1, to: 0 },
    ];
    expect(layoutOf({ boxes: [box, box], arrows: circle }).boxes).toHaveLength(2);
  });

  test('bounds the bends of long arrows', () => {
    const count = 1_000;
    const boxes = Array.from({ length: count }, () => ({ width: 100, height: 40 }));
    const arrows = boxes.flatMap((_, to) =>
      to === 0 ? [] : [{ from: to - 1, to }, ...(to > 1 ? [{ from: 0, to }] : [])],
    );
    const layout = layoutOf({ boxes, arrows });
    const points = layout.arrows.reduce((sum, each) => sum + each.points.length, 0);
    expect(points).toBeLessThan(10 * arrows.length);
    for (const each of layout.arrows.slice(-10))
      expect(crossings({ boxes, arrows }, layout.boxes, each.points)).toEqual([]);
  });
});
