import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Table } from './table.js';

interface Row {
  readonly count: number;
  readonly note?: string;
}

/** Keys that a plain object has already are among them. */
const keys = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'constructor', 'toString', '__proto__');

const acts = fc.array(
  fc.record({ act: fc.constantFrom('put', 'draft', 'delete'), key: keys, count: fc.nat() }),
  { maxLength: 60 },
);

/** The rows that were touched, as a recorder tells of them. */
function touched<T>(table: Table<T>): Map<string, T | 'gone'> {
  const found = new Map<string, T | 'gone'>();
  for (let touch = table.firstTouch; touch !== undefined; touch = touch.next) {
    expect(found.has(touch.key)).toBe(false);
    const row = table.get(touch.key);
    if (row !== undefined) found.set(touch.key, row);
    else if (touch.stoodThere) found.set(touch.key, 'gone');
  }
  return found;
}

function rowsOf(entries: Iterable<readonly [string, Row]>): Record<string, Row> {
  return Object.fromEntries(entries) as Record<string, Row>;
}

describe('a table', () => {
  test('holds what a map would hold, and tells of each row that was touched once', () => {
    fc.assert(
      fc.property(fc.uniqueArray(keys), acts, (first, all) => {
        const before = new Map<string, Row>(first.map((key, count) => [key, { count }] as const));
        const copies = new Map([...before].map(([key, row]) => [key, { ...row }] as const));
        const rows = rowsOf(before);
        const table = new Table<Row>(rows);
        const model = new Map<string, Row>(before);
        const seen = new Set<string>();
        for (const { act, key, count } of all) {
          if (act === 'put') {
            table.put(key, { count });
            model.set(key, { count });
            seen.add(key);
          } else if (act === 'delete') {
            expect(table.delete(key)).toBe(model.delete(key));
          } else if (model.has(key)) {
            table.draft(key).count = count;
            model.set(key, { count });
            seen.add(key);
          }
        }
        expect(rows).toEqual(rowsOf(model));
        for (const key of [...before.keys(), ...seen]) expect(table.get(key)).toEqual(model.get(key));
        const changed = new Map<string, Row | 'gone'>();
        for (const key of new Set([...seen, ...before.keys()])) {
          const row = model.get(key);
          if (row === undefined && before.has(key)) changed.set(key, 'gone');
          else if (row !== undefined && seen.has(key)) changed.set(key, row);
        }
        expect(touched(table)).toEqual(changed);
        // Rows that were handed out before stay as they were.
        expect(before).toEqual(copies);
      }),
    );
  });

  test('copies a row once for all drafts of a step, and anew where another row was put', () => {
    const table = new Table<Row>({ a: { count: 1, note: 'kept' } });
    const draft = table.draft('a');
    draft.count += 1;
    expect(table.draft('a')).toBe(draft);
    expect(table.need('a')).toEqual({ count: 2, note: 'kept' });
    const put: Row = { count: 7 };
    table.put('a', put);
    table.draft('a').count += 1;
    expect([put.count, table.need('a').count, draft.count]).toEqual([7, 8, 2]);
  });

  test('a row that comes and goes leaves no trace', () => {
    const table = new Table<Row>({});
    table.put('a', { count: 1 });
    expect(table.delete('a')).toBe(true);
    expect(touched(table).size).toBe(0);
  });

  test('what is inherited is no row', () => {
    const table = new Table<Row>({});
    for (const key of ['constructor', 'toString', '__proto__']) {
      expect(table.get(key)).toBeUndefined();
      expect(() => table.need(key)).toThrow(`no row for '${key}'`);
      expect(() => table.draft(key)).toThrow(`no row for '${key}'`);
    }
  });
});
