import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import type { SourceLocation } from '../graph/source-location.js';
import { contradictedHints } from '../infer/derived-hints.js';
import { readHints } from '../infer/hints.js';
import { CATEGORIES } from '../infer/lifecycle.js';
import type { PlanningHints } from '../infer/tool.js';
import type { LinkedWorkflow, ToolDeclaration } from './declarations.js';
import type { HintPlaces, LinkedHints } from './hints-and-domains.js';

/** Compares the hints of tools with each other, and with the workflows that could be read as a whole. */
export function checkHints(
  { hints, places }: LinkedHints,
  workflows: readonly Pick<LinkedWorkflow, 'graph' | 'isWhole'>[],
): Diagnostic[] {
  if (hints.size === 0) return [];
  const byName = new Map(
    [...hints].map(([tool, linked]) => [tool.name, { tool, linked, places: places.get(tool) }]),
  );
  const tools = [...byName].map(([name, { linked }]) => ({ name, hints: linked, inputSchema: {} }));
  const faults = readHints(tools).faults.flatMap((fault) => {
    if (fault.kind === 'cycle') {
      const [name = ''] = fault.tools;
      const place = placeOf(byName.get(name), 'requires', fault.tools);
      return [diagnostic('SW4041', place, { tools: fault.tools })];
    }
    if (fault.kind === 'unknown-tool') return [];
    const { tool, places: configured } = byName.get(fault.tool) ?? {};
    const params = { tool: fault.tool, category: fault.category, candidates: CATEGORIES };
    return [diagnostic('SW4042', configured?.category ?? tool?.hints?.categoryPlace ?? tool?.place, params)];
  });
  const graphs = workflows.flatMap(({ graph, isWhole }) => (isWhole ? [graph] : []));
  const declared = new Map([...byName].map(([name, { linked }]) => [name, linked]));
  const contradictions = contradictedHints(graphs, declared).map((result) =>
    diagnostic('SW4040', placeOf(byName.get(result.tool), result.hint, [result.named]), { ...result }),
  );
  return [...faults, ...contradictions];
}

interface Declared {
  readonly tool: ToolDeclaration;
  readonly linked: PlanningHints;
  /** Missing if no configuration has hints of the tool. */
  readonly places: HintPlaces | undefined;
}

/** Where a tool names one of others in a hint, or else the tool itself. */
function placeOf(
  declared: Declared | undefined,
  hint: 'next' | 'requires',
  named: readonly string[],
): SourceLocation | undefined {
  const written = declared?.tool.hints?.[hint] ?? [];
  const linked = declared?.linked[hint] ?? [];
  const index = linked.findIndex((name) => named.includes(name));
  const configured = declared?.places?.[hint][index] ?? declared?.places?.tool;
  if (configured !== undefined) return configured;
  // A class that could not be resolved has no name among the linked ones.
  const match = written.length === linked.length ? written[index] : undefined;
  return match?.place ?? declared?.tool.place;
}
