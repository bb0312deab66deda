import { describe, expect, test } from 'vitest';
import { type Import, importsOf, type SourceText, sourceFiles } from './source-files.js';

/** The types of a graph: what the oracle and the engine have in common. */
const TYPES = new Set(['src/graph/model.ts', 'src/graph/json.ts', 'src/graph/expression/tree.ts']);

const CANONICAL = 'src/graph/canonical.ts';

/** What is wrong with an import of the oracle, as a sentence, or `undefined`. */
function fault({ from, to, how }: Import): string | undefined {
  if (to.startsWith('test/oracle/') || to === CANONICAL) return undefined;
  return TYPES.has(to) && how === 'type' ? undefined : `${from} imports ${to} (${how})`;
}

/** The files a file imports, directly or not, with itself. */
function reachable(root: string, sources: ReadonlyMap<string, SourceText>): Set<string> {
  const found = new Set([root]);
  for (const file of found) {
    const source = sources.get(file);
    if (source === undefined) continue;
    for (const { to } of importsOf(source)) if (to.startsWith('test/oracle/')) found.add(to);
  }
  return found;
}

describe('the oracle', () => {
  const sources = new Map(sourceFiles('test/oracle').map((source) => [source.file, source]));
  const files = [...reachable('test/oracle/oracle.ts', sources)];

  test('imports nothing of the product but types of graphs and canonical JSON', () => {
    expect(files.length).toBeGreaterThan(10);
    const imports = files.flatMap((file) => importsOf(sources.get(file) ?? { file, text: '' }));
    expect(imports.map(fault).filter((found) => found !== undefined)).toEqual([]);
  });

  test.each<[string, boolean]>([
    ["import type { Graph } from '../../src/graph/model.js';", true],
    ["import { isJsonObject } from '../../src/graph/json.js';", false],
    ["import { canonicalJson } from '../../src/graph/canonical.js';", true],
    ["import { references } from '../../src/graph/expression/traversal.js';", false],
    ["import type { Command } from '../../src/runtime/engine/contract.js';", false],
    ["import { readFileSync } from 'node:fs';", false],
    ["import { tell } from './oracle.js';", true],
  ])('may say `%s`: %s', (text, isAllowed) => {
    const [link] = importsOf({ file: 'test/oracle/a.ts', text });
    expect(fault(link as Import) === undefined).toBe(isAllowed);
  });
});
