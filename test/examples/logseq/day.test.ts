import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dayOf, localToday, weekOf } from '../../../examples/logseq/day.js';

const today = (): string => '2026-01-14';
const DAYS = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2300-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

describe('dayOf', () => {
  test('takes a date, and the word today', () => {
    expect(dayOf('2024-02-29', today)).toBe('2024-02-29');
    expect(dayOf('today', today)).toBe('2026-01-14');
    expect(dayOf('today', localToday)).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  test.each(['2026-02-29', '2026-13-01', '2026-1-1', '20260101', 'Today', '', '2026-01-01T00:00', '../x'])(
    'refuses %j',
    (text) => {
      expect(() => dayOf(text, today)).toThrow("date must be YYYY-MM-DD or 'today'");
    },
  );
});

describe('weekOf', () => {
  test.each([
    ['2026-01-14', '2026-W03', '2026-01-12'],
    ['2026-01-18', '2026-W03', '2026-01-12'],
    ['2025-12-31', '2026-W01', '2025-12-29'],
    ['2027-01-01', '2026-W53', '2026-12-28'],
    ['2024-12-30', '2025-W01', '2024-12-30'],
    ['2023-01-01', '2022-W52', '2022-12-26'],
  ])('%s is in %s, which begins on %s', (day, name, monday) => {
    const week = weekOf(day);
    expect(week.name).toBe(name);
    expect(week.days[0]).toBe(monday);
  });

  test('has seven days in a row, the given one among them, and all of them are in it', () => {
    fc.assert(
      fc.property(DAYS, (day) => {
        const week = weekOf(day);
        expect(week.days).toContain(day);
        expect(new Date(week.days[0] ?? '').getUTCDay()).toBe(1);
        const times = week.days.map((each) => Date.parse(each));
        expect(times.map((time) => time - (times[0] ?? 0))).toEqual(
          [0, 1, 2, 3, 4, 5, 6].map((n) => n * 86_400_000),
        );
        for (const each of week.days) expect(weekOf(each)).toEqual(week);
      }),
    );
  });

  test('numbers the weeks of a year from 1 to 52 or 53, one after the other', () => {
    fc.assert(
      fc.property(DAYS, (day) => {
        const next = weekOf(new Date(Date.parse(day) + 7 * 86_400_000).toISOString().slice(0, 10));
        const [year, number] = weekOf(day).name.split('-W').map(Number) as [number, number];
        const [nextYear, nextNumber] = next.name.split('-W').map(Number) as [number, number];
        if (nextYear === year) expect(nextNumber).toBe(number + 1);
        else expect([nextYear - year, nextNumber, number >= 52]).toEqual([1, 1, true]);
      }),
    );
  });
});
