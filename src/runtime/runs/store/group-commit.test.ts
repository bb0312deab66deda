import { expect, test } from 'vitest';
import { GroupCommit } from './group-commit.js';

test('what comes while a group is written makes up the next one', async () => {
  const groups: (readonly string[])[] = [];
  let finish: () => void = () => {};
  const group = new GroupCommit<string>((items) => {
    groups.push(items);
    return new Promise((resolve) => {
      finish = () => resolve(items.map((item) => (item === 'bad' ? new Error(item) : undefined)));
    });
  });
  const added = ['a', 'bad'].map((item) => group.add(item));
  await Promise.resolve();
  added.push(...['c', 'd'].map((item) => group.add(item)));
  finish();
  const [first, second] = await Promise.allSettled(added.slice(0, 2));
  expect([first?.status, second]).toEqual(['fulfilled', { status: 'rejected', reason: new Error('bad') }]);
  finish();
  await Promise.all(added.slice(2));
  expect(groups).toEqual([
    ['a', 'bad'],
    ['c', 'd'],
  ]);
});

test('where a group cannot be written, all of it has failed, and the next one is tried', async () => {
  let isFull = true;
  const group = new GroupCommit<string>(async () => {
    if (isFull) throw new Error('the disk is full');
    return [];
  });
  const outcomes = await Promise.allSettled(['a', 'b'].map((item) => group.add(item)));
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isFull = false;
  await expect(group.add('c')).resolves.toBeUndefined();
});
