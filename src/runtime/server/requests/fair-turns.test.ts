import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairTurns } from './fair-turns.js';
import { RequestSignal } from './limits.js';

const limits = { concurrent: 2, concurrentPerOwner: 2, queuedPerOwner: 2 };

/** Takes turns, and notes who has begun. */
function desk(turns: FairTurns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const take = (owner: string, name: string, signal = new RequestSignal()): Promise<void> =>
    turns.take(owner, signal).then((end) => {
      if (end === undefined) return;
      begun.push(name);
      ends.set(name, end);
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, take, end };
}

describe('turns', () => {
  test('begin at once while there is room', async () => {
    const { begun, take } = desk(new FairTurns(limits));
    await take('ada', 'a1');
    await take('eve', 'e1');
    expect(begun).toEqual(['a1', 'e1']);
  });

  test('a caller with many requests does not delay one with few', async () => {
    const { begun, take, end } = desk(new FairTurns({ ...limits, concurrent: 1, queuedPerOwner: 9 }));
    for (const name of ['a1', 'a2', 'a3', 'a4']) void take('ada', name);
    void take('eve', 'e1');
    void take('bob', 'b1');
    await end('');
    for (const name of ['a1', 'a2', 'e1', 'b1', 'a3', 'a4']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'e1', 'b1', 'a3', 'a4']);
  });

  test('one caller takes no more than its share', async () => {
    const { begun, take, end } = desk(new FairTurns({ ...limits, concurrent: 9, concurrentPerOwner: 1 }));
    for (const name of ['a1', 'a2']) void take('ada', name);
    void take('eve', 'e1');
    await end('');
    expect(begun).toEqual(['a1', 'e1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'e1', 'a2']);
  });

  test('a caller whose queue is full is known', async () => {
    const turns = new FairTurns({ ...limits, concurrent: 1, queuedPerOwner: 1 });
    const { take, end } = desk(turns);
    await take('ada', 'a1');
    expect(turns.isFull('ada')).toBe(false);
    void take('ada', 'a2');
    expect(turns.isFull('ada')).toBe(true);
    expect(turns.isFull('eve')).toBe(false);
    await end('a1');
    expect(turns.isFull('ada')).toBe(false);
  });

  test('an aborted request leaves the queue, and takes no turn', async () => {
    const turns = new FairTurns({ ...limits, concurrent: 1 });
    const { begun, take, end } = desk(turns);
    const signal = new RequestSignal();
    await take('ada', 'a1');
    const left = take('ada', 'a2', signal);
    void take('ada', 'a3');
    signal.abort(new Error('gone'));
    await left;
    await end('a1');
    expect(begun).toEqual(['a1', 'a3']);
  });

  test('requests that come, wait and leave: the limits hold and each request that stays has its turn', async () => {
    const step = fc.record({
      owner: fc.constantFrom('a', 'b', 'c'),
      kind: fc.constantFrom('take', 'end', 'leave'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const turns = new FairTurns({ concurrent: 3, concurrentPerOwner: 2, queuedPerOwner: 100 });
        const running: { owner: string; end: () => void }[] = [];
        const waiting = new Set<{ owner: string; signal: RequestSignal }>();
        for (const { owner, kind } of steps) {
          if (kind === 'take') {
            const request = { owner, signal: new RequestSignal() };
            waiting.add(request);
            void turns.take(owner, request.signal).then((end) => {
              waiting.delete(request);
              if (end !== undefined) running.push({ owner, end });
            });
          } else if (kind === 'end') {
            running.shift()?.end();
          } else {
            const [first] = waiting;
            first?.signal.abort(new Error('gone'));
          }
          await Promise.resolve().then(() => {});
          expect(running.length).toBeLessThanOrEqual(3);
          for (const each of ['a', 'b', 'c'])
            expect(running.filter((turn) => turn.owner === each).length).toBeLessThanOrEqual(2);
        }
        while (running.length > 0 || waiting.size > 0) {
          expect(running.length).toBeGreaterThan(0);
          running.shift()?.end();
          await new Promise((resolve) => setImmediate(resolve));
        }
      }),
    );
  });
});
