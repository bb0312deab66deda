import { CONFIDENCE } from './evidence.js';
import { ownedPart, type ToolFacts } from './facts.js';
import type { FieldEdge } from './field-evidence.js';
import { rankOf } from './lifecycle.js';

/**
 * Pairs a parameter such as `flight_id` with the only tool that finds flights, or else makes them, if no tool is known to
 * return it. Many servers do not say what their tools return.
 */
export function sourceEdges(tools: readonly ToolFacts[]): FieldEdge[] {
  const silent = tools.filter(({ hasResults }) => !hasResults);
  return tools.flatMap((to) =>
    to.parameters.flatMap((parameter) => {
      const owned = ownedPart(parameter);
      if (owned?.part !== 'id' || !parameter.isRequired) return [];
      const about = silent.filter(
        (from) =>
          from !== to &&
          from.subjects.has(owned.owner) &&
          !from.parameters.some(({ stems }) => stems.join(' ') === parameter.stems.join(' ')),
      );
      const finding = about.filter(({ tool }) => rankOf(tool) === 0);
      const [from, ...others] = finding.length > 0 ? finding : about.filter(({ tool }) => rankOf(tool) === 2);
      if (from === undefined || others.length > 0) return [];
      const text = `${from.tool.name} is about the subject of \`${parameter.path}\` of ${to.tool.name}, and does not say what it returns`;
      return [
        { from, to, evidence: { kind: 'source', confidence: CONFIDENCE.untypedSource, text } as const },
      ];
    }),
  );
}
