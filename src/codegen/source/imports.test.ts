import { describe, expect, test } from 'vitest';
import { commonEnding, endingOf } from './imports.js';
import { ts } from './typescript.mjs';

const literal = (text: string): ts.StringLiteral => ts.factory.createStringLiteral(text);

describe('endingOf', () => {
  test.each([
    ['./tools.js', '/p/tools.ts', ['js']],
    ['./view.jsx', '/p/view.tsx', ['js']],
    ['../tools.ts', '/p/tools.ts', ['ts']],
    ['./tools', '/p/tools.ts', ['none']],
    ['./tool.service', '/p/tool.service.ts', ['none']],
    ['./tools.js', '/p/tools.js.ts', ['none']],
    ['.', '/p/index.ts', ['none']],
    ['./tools', '/p/tools/index.ts', ['none']],
    ['./tools.mjs', '/p/tools.mts', []],
    ['./tools.js', '/p/tools.js', []],
    ['@/tools', '/p/tools.ts', []],
  ] as const)('of `%s` for %s is %j', (specifier, file, endings) => {
    expect(endingOf(literal(specifier), file)).toEqual(endings);
  });
});

describe('commonEnding', () => {
  const { ModuleKind: Kind, ModuleResolutionKind: Resolution } = ts;
  const node = { module: Kind.NodeNext };
  const bundler = { module: Kind.ESNext, moduleResolution: Resolution.Bundler };
  const commonjs = { module: Kind.CommonJS };

  test.each([
    ['NodeNext', node, ['none', 'ts'], 'js'],
    ['Node16', { module: Kind.ESNext, moduleResolution: Resolution.Node16 }, [], 'js'],
    ['NodeNext with .ts', { ...node, allowImportingTsExtensions: true }, [], 'ts'],
    ['NodeNext that rewrites', { ...node, rewriteRelativeImportExtensions: true }, ['ts'], 'ts'],
    ['NodeNext that could', { ...node, allowImportingTsExtensions: true }, ['js', 'none'], 'js'],
    ['a bundler', bundler, [], 'none'],
    ['a bundler whose sources write .js', bundler, ['none', 'js', 'js'], 'js'],
    ['a bundler that writes both as often', bundler, ['js', 'none'], 'none'],
    ['a bundler that writes .ts', { ...bundler, allowImportingTsExtensions: true }, ['ts', 'none'], 'ts'],
    ['CommonJS', commonjs, ['none'], 'none'],
  ] as const)('of %s', (_, options, endings, expected) => {
    expect(commonEnding(options, endings)).toBe(expected);
    expect(commonEnding(options, endings.toReversed())).toBe(expected);
  });
});
