import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import { describe, expect, test } from 'vitest';
import { isNightly } from '../../../test/nightly.js';
import { anyGraph } from '../../graph/any-graph.fixture.js';
import { call, chain, done, graph, input, lit, step } from '../../runtime/engine/graph.fixture.js';
import { chartOf } from './chart.js';
import { printSvg } from './svg.js';

/** Throws for a text that is not well-formed. */
function elements(svg: string): string[] {
  const names: string[] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name }) => names.push(name));
  parser.write(svg).close();
  return names;
}

describe('a chart as SVG', () => {
  test('nests loops, branches and workflows in their nodes', () => {
    const inner = graph([call('deep')], { name: 'inner', returns: step('deep') });
    const outer = graph(
      chain(
        {
          ...call('loop'),
          kind: 'foreach',
          as: 'item',
          items: input('list'),
          body: { nodes: [call('each', { x: lit(1) })] },
          maxIterations: 5,
          concurrency: 1,
          onItemError: 'fail',
        } as never,
        {
          ...call('sub'),
          kind: 'workflow',
          workflow: 'inner',
          input: { kind: 'dict', entries: [] },
        } as never,
        done('out', step('sub')),
      ),
      { name: 'outer', tasks: [inner] },
    );
    const chart = chartOf(outer);
    const [loop, sub] = chart.group.boxes;
    expect(loop?.groups[0]?.boxes.map(({ key }) => key)).toEqual(['each']);
    expect(sub?.groups[0]?.boxes.map(({ key }) => key)).toEqual(['sub/deep', 'sub/=']);
    const svg = printSvg(chart);
    expect(svg).toContain('data-key="sub/deep"');
    expect(printSvg(chartOf(outer))).toBe(svg);
  });

  test('is well-formed and requests nothing, whatever texts are in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const svg = printSvg(chartOf(graph([call('a', {}, { title: text })], { description: text })));
        expect(elements(svg).filter((name) => name === 'script' || name === 'image')).toEqual([]);
        expect(svg.replaceAll('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
          / (href|src)=|url\((?!#)/,
        );
      }),
    );
  });

  test('is made of any graph', () => {
    fc.assert(
      fc.property(anyGraph, (of) => {
        expect(elements(printSvg(chartOf(of)))[0]).toBe('svg');
      }),
      { numRuns: isNightly ? 100 : 25 },
    );
  });
});
