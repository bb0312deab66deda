import { describe, expect, test } from 'vitest';
import { nodeFlags } from './inputs.js';

describe('nodeFlags', () => {
  test('passes the conditions of this process on, however they were written, and nothing else', () => {
    const flags = nodeFlags([
      '--conditions=a',
      '--import',
      './x.mjs',
      '-C',
      'b',
      '--conditions',
      'c',
      '--inspect',
    ]);
    const own = nodeFlags([]);
    expect(flags.filter((flag) => !own.includes(flag))).toEqual([
      '--conditions=a',
      '--conditions=b',
      '--conditions=c',
    ]);
  });

  test('resolves our own package to its sources when it runs from them, once', () => {
    const source = '--conditions=@stepwright/source';
    expect(nodeFlags([source]).filter((flag) => flag === source)).toEqual([source]);
  });
});
