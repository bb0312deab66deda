import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LayoutRequest, layeredLayout } from './layered-layout.js';

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
    return fc.record({ boxes: fc.constant(boxes), arrows });
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

describe('the layout in layers', () => {
  test('keeps boxes apart and in the frame, arrows downwards, and the same bytes', () => {
    fc.assert(
      fc.property(request, (given) => {
        const layout = layeredLayout(given);
        expect(overlaps(given, layout.boxes)).toEqual([]);
        for (const [index, { x, y }] of layout.boxes.entries()) {
          expect(Number.isInteger(x) && Number.isInteger(y)).toBe(true);
          expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
          expect(x + (given.boxes[index]?.width ?? 0)).toBeLessThanOrEqual(layout.width);
          expect(y + (given.boxes[index]?.height ?? 0)).toBeLessThanOrEqual(layout.height);
        }
        for (const points of layout.arrows)
          for (const [index, { y }] of points.entries())
            expect(y).toBeGreaterThanOrEqual(points[index - 1]?.y ?? 0);
        expect(layeredLayout(given)).toEqual(layout);
      }),
      { numRuns: 300 },
    );
  });

  test('leads an arrow back around the right side', () => {
    const box = { width: 100, height: 40 };
    const { arrows, width } = layeredLayout({
      boxes: [box, box],
      arrows: [
        { from: 0, to: 1 },
        { from: 1, to: 0, isBack: true },
      ],
    });
    expect(arrows[1]).toEqual([
      { x: 100, y: 104 },
      { x: 128, y: 104 },
      { x: 128, y: 20 },
      { x: 100, y: 20 },
    ]);
    expect(width).toBe(128);
  });

  test('ends for arrows in a circle', () => {
    const box = { width: 10, height: 10 };
    const circle = [
      { from: 0, to: 1 },
      { from: 1, to: 0 },
    ];
    expect(layeredLayout({ boxes: [box, box], arrows: circle }).boxes).toHaveLength(2);
  });

  test('bounds the bends of long arrows', () => {
    const count = 1_000;
    const boxes = Array.from({ length: count }, () => ({ width: 100, height: 40 }));
    const arrows = boxes.flatMap((_, to) =>
      to === 0 ? [] : [{ from: to - 1, to }, ...(to > 1 ? [{ from: 0, to }] : [])],
    );
    const points = layeredLayout({ boxes, arrows }).arrows.reduce((sum, each) => sum + each.length, 0);
    expect(points).toBeLessThan(2 * arrows.length + 2 * 8 * count + 1);
  });
});
