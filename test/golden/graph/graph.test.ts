import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseGraph } from '../../../src/graph/schema/parse-graph.js';
import { printMermaid } from '../../../src/print/mermaid.js';
import { printText } from '../../../src/print/text.js';
import { expectGolden, goldenFiles } from '../golden.js';
import { cases } from './cases.js';

const folder = fileURLToPath(new URL('.', import.meta.url));

describe('how a graph is printed', () => {
  test.each(Object.entries(cases))('%s', (name, graph) => {
    expect(parseGraph(graph).ok).toBe(true);
    expectGolden(`${folder}${name}.txt`, `${printText(graph)}\n${printMermaid(graph)}`);
  });

  test('every golden file belongs to a case', () => {
    expect(goldenFiles(folder).map((file) => basename(file, '.txt'))).toEqual(Object.keys(cases).sort());
  });
});
