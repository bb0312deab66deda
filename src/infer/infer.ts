import { compareText } from '../graph/names.js';
import { CONFIDENCE, type Edge, ENOUGH, type Evidence, isFinal, orderingPhrases } from './evidence.js';
import { fieldEdges, sourceEdges } from './field-evidence.js';
import { factsOf, type ToolFacts } from './fields.js';
import { type Choice, type HintFault, readHints } from './hints.js';
import { rankOf } from './lifecycle.js';
import { operandEdges } from './operands.js';
import { type Arc, cyclesIn } from './order.js';
import { sequencesOf } from './sequences.js';
import type { ToolDescription } from './tool.js';

/** The order of calls that a list of tools implies. */
export interface Inference {
  /** In the order of the list. */
  readonly tools: readonly string[];
  /** The surest first. Edges with a confidence below 0.7 do not order tools. */
  readonly edges: readonly Edge[];
  /** Alternatives: a sequence has one tool of each. */
  readonly choices: readonly Choice[];
  /** Tools that each have to come before the others. They are in no sequence. */
  readonly cycles: readonly (readonly string[])[];
  /** Orders in which tools may be called: one for each process, and for each of its alternatives. */
  readonly sequences: readonly (readonly string[])[];
  readonly faults: readonly HintFault[];
}

/** Infers which tools come before which, from hints, schemas and descriptions, without a call. */
export function inferOrder(list: readonly ToolDescription[]): Inference {
  const tools = [...new Map(list.map((tool) => [tool.name, tool])).values()];
  const names = tools.map(({ name }) => name);
  const hints = readHints(tools);
  const edges = edgesOf(tools, hints.edges);
  const arcs = edges.filter(({ confidence }) => confidence >= ENOUGH);
  return {
    tools: names,
    edges,
    choices: hints.choices,
    cycles: cyclesIn(names, arcs),
    sequences: sequencesOf(tools, edges, hints),
    faults: hints.faults,
  };
}

type Evidences = Map<string, Map<string, Evidence[]>>;

function edgesOf(
  tools: readonly ToolDescription[],
  hinted: readonly (Arc & { readonly evidence: Evidence })[],
): Edge[] {
  const evidences: Evidences = new Map();
  const add = (from: string, to: string, evidence: Evidence): void => {
    if (from === to) return;
    const row = evidences.get(from) ?? new Map<string, Evidence[]>();
    const existing = row.get(to);
    if (existing === undefined) row.set(to, [evidence]);
    else existing.push(evidence);
    evidences.set(from, row);
  };
  const facts = tools.map(factsOf);
  for (const { from, to, evidence } of hinted) add(from, to, evidence);
  const links = [...fieldEdges(facts), ...sourceEdges(facts)];
  for (const { from, to, evidence } of links) add(from.tool.name, to.tool.name, evidence);
  const paired = { result: new Map<ToolFacts, Set<string>>(), parameter: new Map<ToolFacts, Set<string>>() };
  for (const { from, to, evidence } of links) {
    const { link, confidence } = evidence;
    if (link === undefined || confidence < ENOUGH) continue;
    paired.result.set(from, (paired.result.get(from) ?? new Set()).add(link.output));
    paired.parameter.set(to, (paired.parameter.get(to) ?? new Set()).add(link.parameter));
  }
  const isPaired = (kind: 'result' | 'parameter', facts: ToolFacts, path: string): boolean =>
    paired[kind].get(facts)?.has(path) === true;
  for (const { from, to, evidence } of operandEdges(facts, isPaired)) {
    add(from.tool.name, to.tool.name, evidence);
  }
  for (const tool of tools) {
    for (const { from, to, evidence } of orderingPhrases(tool, tools)) add(from, to, evidence);
  }
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const edges = [...evidences].flatMap(([from, row]) =>
    [...row].map(([to, evidence]) =>
      edgeOf(byName.get(from), byName.get(to), { from, to }, evidence, evidences.get(to)?.get(from) ?? []),
    ),
  );
  return edges.sort(
    (a, b) => b.confidence - a.confidence || compareText(a.from, b.from) || compareText(a.to, b.to),
  );
}

/** @param opposite the evidence for the opposite edge. */
function edgeOf(
  from: ToolDescription | undefined,
  to: ToolDescription | undefined,
  arc: Arc,
  own: readonly Evidence[],
  opposite: readonly Evidence[],
): Edge {
  const best = bestOf(own);
  const ranks = [from && rankOf(from), to && rankOf(to)] as const;
  const isUsual = ranks[0] !== undefined && ranks[1] !== undefined && ranks[0] < ranks[1];
  const usual: Evidence[] = isUsual
    ? [
        {
          kind: 'lifecycle',
          confidence: CONFIDENCE.lifecycle,
          text: `tools such as ${arc.from} usually come before tools such as ${arc.to}`,
        },
      ]
    : [];
  const evidence = [...own, ...usual].sort(
    (a, b) => b.confidence - a.confidence || compareText(a.kind, b.kind) || compareText(a.text, b.text),
  );
  const isInferred = best < CONFIDENCE.hint;
  const isLast = from !== undefined && isFinal(from);
  const isBeaten =
    isInferred && (isLast || bestOf(opposite) > best || (bestOf(opposite) === best && !isUsual));
  const confidence = isBeaten ? Math.min(best, CONFIDENCE.contradicted) : best;
  return { ...arc, confidence, evidence };
}

function bestOf(evidence: readonly Evidence[]): number {
  return Math.max(0, ...evidence.map(({ confidence }) => confidence));
}
