import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseWorkflows, type TextFormat } from '../../src/formats/index.js';
import { parseGraph } from '../../src/graph/schema/parse-graph.js';
import { isNightly } from '../nightly.js';
import { specText } from './spec-file.fixture.js';

const FILES: Readonly<Record<TextFormat, string>> = {
  yaml: specText('book-flight.yaml'),
  json: specText('book-flight.json'),
  xml: specText('book-flight.xml'),
};

const NOISE = fc.constantFrom(
  ...[
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    ':',
    ': ',
    ',',
    '- ',
    '? ',
    '&a ',
    '*a',
    '!',
    '|',
    '>',
    '%',
    '#',
    '\n',
    '\t',
    ' ',
    '\r',
  ],
  ...[
    '$',
    '${',
    '$$',
    '$x',
    '.0',
    '<',
    '</',
    '/>',
    '<!--',
    ']]>',
    '<![CDATA[',
    '&lt;',
    '&',
    '=',
    '\\',
    '\u0000',
    '😀',
    '\ud800',
  ],
  ...[
    'null',
    'true',
    '0',
    '-1',
    '1e999',
    '__proto__',
    'type',
    'call',
    'goto',
    'when',
    'steps',
    'branches',
    '==',
    '&&',
    '(',
  ],
);

/** A file with pieces of noise in it, pieces left out, or the beginning of it. */
function broken(text: string): fc.Arbitrary<string> {
  const edit = fc.tuple(fc.nat(text.length), fc.nat(40), fc.array(NOISE, { maxLength: 4 }));
  return fc
    .tuple(fc.array(edit, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: text.length }))
    .map(([edits, end]) =>
      edits
        .reduce(
          (edited, [at, length, noise]) => edited.slice(0, at) + noise.join('') + edited.slice(at + length),
          text,
        )
        .slice(0, end * 2),
    );
}

async function holds(text: string, format: TextFormat): Promise<void> {
  const file = `f.${format}`;
  const { workflows, diagnostics } = await parseWorkflows(text, { file, format });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  // Nothing is loaded in part.
  if (errors.length > 0) expect(workflows).toEqual([]);
  else expect(workflows.length).toBeGreaterThan(0);
  for (const { graph } of workflows)
    expect(parseGraph(JSON.parse(JSON.stringify(graph)))).toMatchObject({ ok: true });
  const lines = text.split('\n').length;
  for (const { place } of diagnostics) {
    expect(place?.file).toBe(file);
    expect(place?.span[0]).toBeLessThanOrEqual(lines + 1);
  }
}

describe.each(['yaml', 'json', 'xml'] as const)('a text in %s', (format) => {
  test('that was broken is refused as a whole, or is a workflow', async () => {
    await fc.assert(
      fc.asyncProperty(broken(FILES[format]), (text) => holds(text, format)),
      { numRuns: isNightly ? 400 : 80 },
    );
  });

  test('of noise alone is refused', async () => {
    const noise = fc.array(NOISE, { maxLength: 200 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(noise, (text) => holds(text, format)),
      { numRuns: isNightly ? 400 : 80 },
    );
  });
});
