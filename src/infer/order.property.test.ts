import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ENOUGH } from './evidence.js';
import { toolOf } from './flights.fixture.js';
import { inferOrder } from './infer.js';
import { cyclesIn, topologicalOrder } from './order.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const name = fc.constantFrom(...NAMES);
const arcs = fc.array(
  fc.record({ from: name, to: name }).filter(({ from, to }) => from !== to),
  {
    maxLength: 12,
  },
);
const byName = (a: string, b: string) => NAMES.indexOf(a) - NAMES.indexOf(b);

test('names have an order if and only if they have no cycle', () => {
  fc.assert(
    fc.property(arcs, (given) => {
      const order = topologicalOrder(NAMES, given, byName);
      expect(order === undefined).toBe(cyclesIn(NAMES, given).length > 0);
      for (const { from, to } of given) {
        if (order !== undefined) expect(order.indexOf(from)).toBeLessThan(order.indexOf(to));
      }
    }),
  );
});

test('a cycle has every name that reaches itself', () => {
  fc.assert(
    fc.property(arcs, (given) => {
      const reaches = (from: string): Set<string> => {
        const found = new Set<string>();
        const left = [from];
        for (let next = left.pop(); next !== undefined; next = left.pop()) {
          for (const arc of given) {
            if (arc.from !== next || found.has(arc.to)) continue;
            found.add(arc.to);
            left.push(arc.to);
          }
        }
        return found;
      };
      const circular = NAMES.filter((each) => reaches(each).has(each));
      expect(cyclesIn(NAMES, given).flat().sort()).toEqual(circular);
    }),
  );
});

const FIELDS = ['flight_id', 'id', 'text', 'amount', 'hotel_name', 'status', 'city', 'seats'];
const tools = fc
  .uniqueArray(
    fc.constantFrom('search_flights', 'get_seats', 'book_hotel', 'pay', 'cancel_hotel', 'send_text'),
    {
      minLength: 1,
    },
  )
  .chain((names) =>
    fc.tuple(
      ...names.map((each) =>
        fc
          .record({
            parameters: fc.uniqueArray(fc.constantFrom(...FIELDS), { maxLength: 3 }),
            returns: fc.uniqueArray(fc.constantFrom(...FIELDS), { maxLength: 3 }),
            next: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 }),
            requires: fc.uniqueArray(fc.constantFrom(...names), { maxLength: 1 }),
          })
          .map(({ parameters, returns, next, requires }) =>
            toolOf(each, parameters, { returns, hints: { next, requires } }),
          ),
      ),
    ),
  );

test('a sequence contradicts no edge, has no tool twice, and one of the alternatives', () => {
  fc.assert(
    fc.property(tools, (list) => {
      const { edges, sequences, choices, cycles } = inferOrder(list);
      for (const sequence of sequences) {
        expect(new Set(sequence).size).toBe(sequence.length);
        for (const { from, to, confidence } of edges) {
          if (confidence < ENOUGH || !sequence.includes(from) || !sequence.includes(to)) continue;
          expect(sequence.indexOf(from)).toBeLessThan(sequence.indexOf(to));
        }
        for (const cycle of cycles) for (const member of cycle) expect(sequence).not.toContain(member);
        for (const { after, oneOf } of choices) {
          if (!sequence.includes(after)) continue;
          const taken = oneOf.filter((each) => sequence.includes(each));
          const arcs = edges.filter(({ confidence }) => confidence >= ENOUGH);
          const isNeeded = (each: string, other: string): boolean =>
            arcs.some(({ from, to }) => from === each && (to === other || isNeeded(to, other)));
          for (const each of taken) {
            for (const other of taken) {
              if (each !== other) expect(isNeeded(each, other) || isNeeded(other, each)).toBe(true);
            }
          }
        }
      }
    }),
  );
});

test('of two tools at most one comes before the other, unless hints say so', () => {
  fc.assert(
    fc.property(tools, (list) => {
      const bare = list.map(({ hints: _, ...tool }) => tool);
      const sure = inferOrder(bare).edges.filter(({ confidence }) => confidence >= ENOUGH);
      const keys = new Set(sure.map(({ from, to }) => `${from} ${to}`));
      for (const { from, to } of sure) expect(keys.has(`${to} ${from}`)).toBe(false);
    }),
  );
});
