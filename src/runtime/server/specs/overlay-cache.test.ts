import { expect, test } from 'vitest';
import type { LiveCatalogue } from '../catalogue/catalogue.js';
import { OverlayCache } from './server-specs.js';

/** A cache with a clock, and a maker that counts. */
function cacheAt() {
  let now = 0;
  const cache = new OverlayCache(() => now);
  const made: string[] = [];
  const get = (key: string) =>
    cache.get(key, 'caller', async () => {
      made.push(key);
      if (key === 'fails') throw new Error('no');
      return {} as LiveCatalogue;
    });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { get, made, pass };
}

test('equal keys have one catalogue, for a minute', async () => {
  const { get, made, pass } = cacheAt();
  const [first, second] = await Promise.all([get('a'), get('a')]);
  expect(second).toBe(first);
  expect(await get('b')).not.toBe(first);
  pass(59_999);
  expect(await get('a')).toBe(first);
  pass(1);
  expect(await get('a')).not.toBe(first);
  expect(made).toEqual(['a', 'b', 'a']);
});

test('a failure is repeated for a few seconds', async () => {
  const { get, made, pass } = cacheAt();
  for (const ms of [0, 4_999, 1]) {
    pass(ms);
    await expect(get('fails')).rejects.toThrow('no');
  }
  expect(made).toEqual(['fails', 'fails']);
});

test('the one that was not used for the longest time makes room', async () => {
  const { get, made } = cacheAt();
  for (let index = 0; index < 100; index += 1) await get(`${index}`);
  await get('0');
  await get('more');
  made.length = 0;
  await get('0');
  await get('1');
  expect(made).toEqual(['1']);
});

test('four are made at once, two of them for one caller', async () => {
  const cache = new OverlayCache();
  const ends: (() => void)[] = [];
  const began: string[] = [];
  const get = (key: string) =>
    cache.get(key, key.charAt(0), () => {
      began.push(key);
      return new Promise<LiveCatalogue>((resolve) => ends.push(() => resolve({} as LiveCatalogue)));
    });
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map(get);
  await new Promise(setImmediate);
  expect(began).toEqual(['a1', 'a2', 'b1', 'c1']);
  for (let index = 0; index < all.length; index += 1) {
    ends[index]?.();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  expect(began.toSorted()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']);
  // The turns of others come before further ones of a caller with many.
  expect(began.indexOf('b2')).toBeLessThan(began.indexOf('a4'));
});
