import { defined } from '../graph/defined.js';
import { nearestName } from '../graph/names.js';
import { CONFIDENCE, type Evidence } from './evidence.js';
import { type Arc, cyclesIn } from './order.js';
import type { ToolDescription } from './tool.js';
import { CATEGORIES } from './words.js';

export type HintFault =
  /** `requires` or `next` of a tool names one that the list does not have. */
  | {
      readonly kind: 'unknown-tool';
      readonly tool: string;
      readonly named: string;
      readonly nearest?: string;
    }
  | { readonly kind: 'unknown-category'; readonly tool: string; readonly category: string }
  /** Each of the tools requires the next one, and the last one the first. */
  | { readonly kind: 'cycle'; readonly tools: readonly string[] };

/** Two or more tools of which one follows. */
export interface Choice {
  readonly after: string;
  readonly oneOf: readonly string[];
}

export interface HintEdge extends Arc {
  readonly evidence: Evidence;
}

/** The order and the choices that the hints of a list of tools declare. */
export interface ReadHints {
  readonly edges: readonly HintEdge[];
  readonly choices: readonly Choice[];
  readonly faults: readonly HintFault[];
}

export function readHints(tools: readonly Pick<ToolDescription, 'name' | 'hints'>[]): ReadHints {
  const names = tools.map(({ name }) => name);
  const faults: HintFault[] = [];
  const edges: HintEdge[] = [];
  const choices: Choice[] = [];
  for (const { name, hints } of tools) {
    const resolve = (list: readonly string[] = []): string[] =>
      list.flatMap((named) => {
        const target = toolNamed(named, names);
        if (target !== undefined) return target === name ? [] : [target];
        const nearest = nearestName(named, names);
        faults.push({
          kind: 'unknown-tool',
          tool: name,
          named,
          ...defined({ nearest }),
        });
        return [];
      });
    for (const other of resolve(hints?.requires)) {
      edges.push({
        from: other,
        to: name,
        evidence: hinted('requires', `\`requires\` of ${name} names ${other}`),
      });
    }
    for (const other of names.filter((each) => hints?.oftenAfter?.includes(each) === true)) {
      const text = `a workflow calls ${name} after ${other}`;
      edges.push({ from: other, to: name, evidence: { kind: 'use', confidence: CONFIDENCE.use, text } });
    }
    const followers = [...new Set(resolve(hints?.next))];
    const isChoice = followers.length > 1;
    for (const other of followers) {
      const text = `\`next\` of ${name} names ${other}${isChoice ? ' as one of several' : ''}`;
      edges.push({ from: name, to: other, evidence: hinted('next', text) });
    }
    if (isChoice) choices.push({ after: name, oneOf: followers });
    const { category } = hints ?? {};
    if (category !== undefined && !CATEGORIES.includes(category.toLowerCase())) {
      faults.push({ kind: 'unknown-category', tool: name, category });
    }
  }
  const required = edges.filter(({ evidence }) => evidence.kind === 'requires');
  for (const cycle of cyclesIn(names, required)) faults.push({ kind: 'cycle', tools: cycle });
  return { edges, choices, faults };
}

function hinted(kind: 'requires' | 'next', text: string): Evidence {
  return { kind, confidence: CONFIDENCE.hint, text };
}

/** The tool that a hint names: exactly, or without the prefix of the server it comes from. */
function toolNamed(named: string, names: readonly string[]): string | undefined {
  if (names.includes(named)) return named;
  const matches = names.filter((name) =>
    ['/', '.', '__'].some((separator) => name.endsWith(`${separator}${named}`)),
  );
  return matches.length === 1 ? matches[0] : undefined;
}
