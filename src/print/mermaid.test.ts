import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ask } from '../runtime/engine/constructs.fixture.js';
import { chain, graph } from '../runtime/engine/graph.fixture.js';
import { chartOf } from './chart/chart.js';
import { label, printMermaid } from './mermaid.js';
import { printText } from './text.js';

test('a question has its reminder in each form', () => {
  const reminder = { remindAfterMs: 86_400_000, escalateTo: [{ kind: 'owner' }] } as const;
  const asking = graph(chain(ask('sure', 'confirm', reminder)));
  for (const text of [printText(asking), printMermaid(asking), JSON.stringify(chartOf(asking))])
    expect(text).toContain('reminder: after 1 day, then also for the owner of the run');
});

describe('a label of Mermaid', () => {
  test.each([
    [['a', 'b'], '"a<br/>b"'],
    [['say "hi"'], '"say #34;hi#34;"'],
    [['#quot; <b> & `x` \\n'], '"#35;quot; #60;b#62; #38; #96;x#96; #92;n"'],
    [['two\nlines'], '"two#92;u000alines"'],
    [
      ['1. first', '- second', '* third', '1.5', '-5'],
      '"1#46; first<br/>#45; second<br/>#42; third<br/>1.5<br/>-5"',
    ],
    [['x'.repeat(80)], `"${'x'.repeat(80)}"`],
    [['x'.repeat(81)], `"${'x'.repeat(79)}…"`],
  ])('of %j', (lines, written) => {
    expect(label(lines)).toBe(written);
  });

  test('ends at its own quote, whatever its text contains', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (lines) => {
        expect(label(lines)).toMatch(/^"[^"`\n\r\\]*"$/);
      }),
    );
  });
});
