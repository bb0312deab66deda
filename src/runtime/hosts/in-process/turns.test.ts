import { describe, expect, test } from 'vitest';
import { TURN_MS, Turns } from './turns.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Turns', () => {
  test('a turn is over when its time is, and not because of the time before it', async () => {
    let now = 0;
    const turns = new Turns(() => now);
    expect(turns.isOver).toBe(false);
    now += TURN_MS - 1;
    expect(turns.isOver).toBe(false);
    now += 1;
    expect(turns.isOver).toBe(true);
    await turn();
    now += 1_000;
    expect(turns.isOver).toBe(false);
  });

  test('who waits goes on in order, in as many turns as it takes', async () => {
    let now = 0;
    const turns = new Turns(() => now);
    const seen: string[] = [];
    const work = (name: string, times: number): void => {
      seen.push(name);
      now += TURN_MS;
      if (times > 1) turns.wait(() => work(name, times - 1));
    };
    expect(turns.isOver).toBe(false);
    turns.wait(() => work('a', 2));
    turns.wait(() => work('b', 1));
    expect(seen).toEqual([]);
    await turn();
    expect(seen).toEqual(['a']);
    await turn();
    expect(seen).toEqual(['a', 'b']);
    await turn();
    expect(seen).toEqual(['a', 'b', 'a']);
  });

  test('several go on in one turn where there is time', async () => {
    const turns = new Turns(() => 0);
    const seen: string[] = [];
    expect(turns.isOver).toBe(false);
    for (const name of ['a', 'b', 'c']) turns.wait(() => seen.push(name));
    await turn();
    expect(seen).toEqual(['a', 'b', 'c']);
  });
});
