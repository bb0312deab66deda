import { describe, expect, test } from 'vitest';
import { checkGraph } from '../../src/graph/check/check-graph.js';
import { parseGraph } from '../../src/graph/schema.js';
import { tell } from './oracle.js';
import { caseOf, INPUT } from './random-graph.js';

describe('tmp', () => {
  test('tell', () => {
    let seed = 1;
    const rnd = () => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return seed % 9973;
    };
    const kinds: Record<string, number> = {};
    const codes: Record<string, number> = {};
    const t0 = Date.now();
    for (let i = 0; i < 2000; i++) {
      const c = caseOf(Array.from({ length: 260 }, rnd), Array.from({ length: 60 }, rnd));
      const parsed = parseGraph(JSON.parse(JSON.stringify(c.graph)));
      if (!parsed.ok) {
        console.log(JSON.stringify(parsed.diagnostics), JSON.stringify(c.graph));
        throw new Error('x');
      }
      for (const g of [c.graph, ...(c.graph.tasks ?? [])])
        for (const d of checkGraph(g, { tools: new Map(), resources: new Map() }))
          codes[d.code] = (codes[d.code] ?? 0) + 1;
      try {
        const s = tell(c.graph, INPUT, c.world);
        kinds[s.status] = (kinds[s.status] ?? 0) + 1;
        for (const v of Object.values(s.nodes)) kinds[v] = (kinds[v] ?? 0) + 1;
      } catch (e) {
        kinds[String(e)] = (kinds[String(e)] ?? 0) + 1;
        if (!String(e).includes('end')) throw e;
      }
    }
    console.log(kinds, codes, Date.now() - t0);
  });
});
