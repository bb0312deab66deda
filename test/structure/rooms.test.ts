import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cycles, importFault, undeclaredPackage } from './rooms.js';
import { type Import, importsOf, isTest, ROOT, sourceFiles } from './source-files.js';

describe('the product', () => {
  const imports = sourceFiles('src')
    .filter((source) => !isTest(source.file))
    .flatMap(importsOf);

  test('has imports to look at', () => {
    expect(imports.length).toBeGreaterThan(20);
  });

  test('imports no package that its users would not get', () => {
    const { bundled, dependencies, peerDependencies, tools } = JSON.parse(
      readFileSync(`${ROOT}package.json`, 'utf8'),
    ) as {
      bundled: readonly string[];
      dependencies: object;
      peerDependencies: object;
      tools: object;
    };
    const names = [...bundled, ...Object.keys(dependencies)];
    // The compilers, SQLite, bundlers, ESLint, OpenTelemetry and Temporal are optional: what a server loads does without them.
    const withPeers = [...names, ...Object.keys({ ...peerDependencies, ...tools })];
    const mayUsePeers = ({ from, how }: (typeof imports)[number]): boolean =>
      /^src\/(?:codegen|opentelemetry|temporal)\//.test(from) ||
      how === 'lazy' ||
      (/^src\/(?:bundlers|eslint)\//.test(from) && how === 'type');
    const undeclared = imports
      .map((link) => undeclaredPackage(link, mayUsePeers(link) ? withPeers : names))
      .filter((fault) => fault !== undefined);
    expect(undeclared).toEqual([]);
    expect(undeclaredPackage({ from: 'src/a.ts', to: 'zod-extra', how: 'value' }, names)).toContain(
      'zod-extra',
    );
  });

  test('imports only rooms above, and packages where they belong', () => {
    expect(imports.map(importFault).filter((fault) => fault !== undefined)).toEqual([]);
  });

  test('has no cycle of imports, of types included', () => {
    expect(cycles(imports)).toEqual([]);
  });
});

test('examples use the product by its name alone, as its users do', () => {
  const inside = sourceFiles('examples')
    .flatMap(importsOf)
    .filter((link) => link.to.startsWith('src/'));
  expect(inside).toEqual([]);
});

test('a cycle is found behind what leads to it, and through more than two files', () => {
  const links = (how: Import['how'], ...pairs: string[]): Import[] =>
    pairs.map((pair) => ({ from: pair.charAt(0), to: pair.charAt(1), how }));
  expect(cycles(links('value', 'ab', 'bc', 'cd', 'db', 'de'))).toEqual(['b', 'c', 'd']);
  expect(cycles(links('value', 'ab', 'bc'))).toEqual([]);
  expect(cycles([...links('value', 'ab'), ...links('type', 'ba')])).toEqual(['a', 'b']);
  expect(cycles([...links('value', 'ab'), ...links('lazy', 'ba')])).toEqual([]);
});

describe('the rule', () => {
  const cases: readonly [from: string, code: string, fault: string | undefined][] = [
    ['src/graph/a.ts', "import { b } from './b.js';", undefined],
    ['src/graph/a.ts', "import { z } from 'zod';", undefined],
    ['src/graph/a.ts', "import { sha256 } from '@noble/hashes/sha2.js';", undefined],
    ['src/graph/a.ts', "import { readFile } from 'node:fs';", 'runs where there is no Node'],
    [
      'src/graph/a.ts',
      "import type { Tool } from '../decorators/tool.js';",
      'src/decorators stands below src/graph',
    ],
    ['src/graph/a.ts', "type T = import('../codegen/syntax.js').S;", 'src/codegen stands below src/graph'],
    ['src/runtime/engine/a.ts', "import { z } from 'zod';", 'uses no packages'],
    ['src/runtime/engine/a.ts', "export * from '../../graph/model.js';", undefined],
    ['src/runtime/tools/a.ts', "import type { Failure } from '../engine/contract.js';", undefined],
    ['src/runtime/tools/a.ts', "import { start } from '../engine/start.js';", 'know no run'],
    [
      'src/runtime/runs/a.ts',
      "import { emit } from '../../codegen/emit.js';",
      'nothing at run time loads codegen',
    ],
    [
      'src/runtime/index.ts',
      "export { emit } from '../codegen/emit.js';",
      'nothing at run time loads codegen',
    ],
    [
      'src/runtime/runs/a.ts',
      "const e = await import('../../codegen/emit.js');",
      'nothing at run time loads codegen',
    ],
    [
      'src/runtime/server/a.ts',
      "import { s } from '../protocol/sdk1/stdio.js';",
      'stands below src/runtime/server',
    ],
    [
      'src/runtime/server/a.ts',
      "import type { Tool } from '@modelcontextprotocol/sdk/types.js';",
      'has one adapter',
    ],
    [
      'src/runtime/transports/a.ts',
      "import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';",
      'has one adapter',
    ],
    [
      'src/runtime/transports/a.ts',
      "import { sdk1 } from '../protocol/sdk1/adapter.js';",
      'stands below src/runtime/transports',
    ],
    [
      'src/runtime/protocol/sdk1/a.ts',
      "import { Server } from '@modelcontextprotocol/sdk/server/index.js';",
      undefined,
    ],
    ['src/codegen/extract/a.ts', "import { Project } from 'ts-morph';", 'has one adapter'],
    ['src/codegen/source/a.ts', "import { Project } from 'ts-morph';", undefined],
    ['src/cli/main.ts', "import { run } from '../codegen/index.js';", 'with import()'],
    ['src/cli/main.ts', "import { check } from './commands/check.js';", 'with import()'],
    ['src/cli/main.ts', "import type { Run } from '../codegen/index.js';", undefined],
    ['src/cli/main.ts', "const c = await import('./commands/check.js');", undefined],
    ['src/cli/commands/check.ts', "import { run } from '../../codegen/codegen.js';", undefined],
    ['src/graph/a.ts', "import { x } from '../index.js';", 'entry stands below src/graph'],
    ['src/testing/a.ts', "import { x } from '../index.js';", undefined],
    ['src/decorators/a.ts', "import { x } from '../cli/main.js';", 'src/cli stands below src/decorators'],
    ['src/decorators/a.ts', "import { call } from 'stepwright';", 'import each other by path'],
    ['src/helpers/a.ts', "import { z } from 'zod';", 'stands in no room'],
    ['src/graph/a.ts', "import { x } from '../misc.js';", 'stands in no room'],
  ];

  test.each(cases)('in %s: %s', (file, text, fault) => {
    const [link] = importsOf({ file, text });
    expect(link).toBeDefined();
    const found = importFault(link as Import);
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(fault);
  });
});
