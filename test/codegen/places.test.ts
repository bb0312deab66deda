import { describe, expect, test } from 'vitest';
import { extract } from '../../src/codegen/extract/extract.js';
import { link } from '../../src/codegen/link/link.js';
import { SourceHost } from '../../src/codegen/source/source-host.js';
import type { Span } from '../../src/graph/source-location.js';
import { FIXTURES } from './fixture.js';

const text = `import { Arg, call, done, fail, read, Resource, Step, Tool, Workflow } from 'stepwright';

@Resource({ name: 'intro' })
export class Intro { static readonly uri = 'resource://places/intro'; }

@Tool({ name: 'ping', description: 'Pings' })
export class Ping { execute(_input: object) { return { list: [{ id: 1 }] }; } }

@Workflow({ name: 'places', description: 'says where things are', instructions: [Intro] })
export class Places {
  @Arg({ description: 'Text' }) text?: Arg<string>;
  @Step({ guidance: 'About {text}' }) a = call(Ping, { text: \`<\${this.text}>\`, guide: read(Intro), same: this.text === 'x' });
  @Step() b = (this.a.list?.[0].id) ?? fail('no id');
  output = done([this.b, this.text ? !this.text : null]);
}
`;

function linked() {
  const overlay = new Map([['places.ts', text]]);
  const host = new SourceHost({
    root: FIXTURES,
    tsconfig: '../tsconfig.fixtures.json',
    files: ['places.ts'],
    overlay,
  });
  const extracted = extract(host.sourceFiles());
  const { value, diagnostics } = link(extracted.value);
  expect([...extracted.diagnostics, ...diagnostics]).toEqual([]);
  const graph = value[0]?.graph;
  if (graph === undefined) throw new Error('nothing was linked');
  return graph;
}

function slice([line, column, endLine, endColumn]: Span): string {
  const lines = text.split('\n').slice(line - 1, endLine);
  const last = lines.length - 1;
  lines[last] = lines[last]!.slice(0, endColumn - 1);
  lines[0] = lines[0]!.slice(column - 1);
  return lines.join('\n');
}

/** The source of every expression in a value, outermost first. */
function sources(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { kind, at } = value as { readonly kind?: string; readonly at?: Span };
  const own = at === undefined || Array.isArray(value) ? [] : [`${kind}: ${slice(at)}`];
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, inner]) => (key === 'source' ? [] : sources(inner))),
  ];
}

describe('a graph points at its source', () => {
  const graph = linked();

  test('with its parts', () => {
    const places = [graph, ...graph.inputs, ...graph.instructions, ...graph.nodes].map(
      ({ source }) => source,
    );
    expect(places.map((place) => place && slice(place.span))).toEqual([
      'Places',
      'text',
      'Intro',
      'read(Intro)',
      'a',
      'b',
      'output',
    ]);
  });

  test('with every expression', () => {
    expect(graph.nodes.map((node) => [node.id, ...sources(node)])).toEqual([
      ['a.guide', 'literal: Intro'],
      [
        'a',
        `dict: { text: \`<\${this.text}>\`, guide: read(Intro), same: this.text === 'x' }`,
        `text: \`<\${this.text}>\``,
        'ref: this.text',
        'ref: read(Intro)',
        "compare: this.text === 'x'",
        'ref: this.text',
        "literal: 'x'",
        "text: 'About {text}'",
        'ref: {text}',
      ],
      [
        'b',
        "literal: 'no id'",
        'call: (this.a.list?.[0].id)',
        'get: this.a.list?.[0].id',
        'get: this.a.list?.[0]',
        'ref: this.a.list',
        'literal: 0',
        'literal: id',
      ],
      [
        'output',
        'list: [this.b, this.text ? !this.text : null]',
        'get: this.b',
        'get: this.a.list?.[0]',
        'ref: this.a.list',
        'literal: 0',
        'literal: id',
        'conditional: this.text ? !this.text : null',
        'ref: this.text',
        'not: !this.text',
        'ref: this.text',
        'literal: null',
      ],
    ]);
  });
});
