import { compareText } from '../graph/names.js';
import { CONFIDENCE, type Edge, ENOUGH, type Evidence, isFinal, orderingPhrases } from './evidence.js';
import { type FieldEdge, fieldEdges, sourceEdges } from './field-evidence.js';
import { type Field, factsOf, fitOf, type Parameter, type ToolFacts } from './fields.js';
import { type Choice, type HintFault, readHints } from './hints.js';
import { rankOf } from './lifecycle.js';
import { type Arc, cyclesIn } from './order.js';
import { sequencesOf } from './sequences.js';
import type { ToolDescription } from './tool.js';
import { isContent, isGeneric, isOutcome, rootOf, rootsOf, singular } from './words.js';

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

/** A required parameter for the value that a tool works on, such as the text to translate. */
interface Operand {
  readonly to: ToolFacts;
  readonly parameter: Parameter;
}

/** A result that another tool may work on. */
interface Product {
  readonly from: ToolFacts;
  readonly result: Field;
  /** Whether the result is what the tool is for, by its name and description. */
  readonly isPurpose: boolean;
}

/**
 * Pairs tools that work on any value, such as a text, with the only tool whose result fits best by its type. If several
 * tools fit there is no evidence for any. Types alone say little, so the confidence falls with the number of tools: in
 * a long list such a pair is a coincidence.
 *
 * @param isPaired whether better evidence pairs a field of a tool already.
 */
function operandEdges(
  tools: readonly ToolFacts[],
  isPaired: (kind: 'result' | 'parameter', tool: ToolFacts, path: string) => boolean,
): FieldEdge[] {
  const operands = tools.flatMap((to) => {
    const [parameter, ...others] = to.parameters.filter((each) => isOperand(to, each));
    if (parameter === undefined || others.length > 0 || isPaired('parameter', to, parameter.path)) return [];
    return [{ to, parameter }];
  });
  const products = tools.flatMap((from) =>
    from.results
      .filter((result) => isProduct(result) && !isPaired('result', from, result.path))
      .map((result) => ({ from, result, isPurpose: isPurpose(from, result) })),
  );
  return operands.flatMap((operand) => {
    const { to, parameter } = operand;
    const others = products.filter(({ from }) => from !== to);
    const fitting = (fit: 'same' | 'text') =>
      others.filter(({ result }) => fitOf(result.types, parameter.types) === fit);
    const same = closest(fitting('same'), parameter);
    const best = same.length > 0 ? same : fitting('text');
    const [product] = best;
    if (product === undefined || best.some(({ from }) => from !== product.from)) return [];
    const confidence = confidenceOf(operand, product, tools.length);
    const text = `only ${product.from.tool.name} returns a value for \`${parameter.path}\`, which ${to.tool.name} works on`;
    const link = { output: product.result.path, parameter: parameter.path };
    return [{ from: product.from, to, evidence: { kind: 'operand', confidence, text, link } }];
  });
}

function confidenceOf({ to, parameter }: Operand, product: Product, tools: number): number {
  const { from, result } = product;
  if (!product.isPurpose) return CONFIDENCE.optional;
  const isText = fitOf(result.types, parameter.types) === 'text';
  const back = backFit(from, to);
  if (back === 'operand' && (isText || isNumeric(parameter))) return CONFIDENCE.optional;
  const doubt =
    (isText || from.results.length > 1 ? 10 : 0) + (back === 'number' ? 4 : 0) + 6 * Math.max(0, tools - 2);
  return Math.max(CONFIDENCE.genericName, (100 * CONFIDENCE.operand - doubt) / 100);
}

/**
 * Of several products the likeliest: what a tool is for, before what it also returns; a single result, before one of many;
 * and a `converted_amount` for an `amount`.
 */
function closest(products: readonly Product[], parameter: Parameter): readonly Product[] {
  const preferences: readonly ((product: Product) => boolean)[] = [
    (product) => product.isPurpose,
    ({ from }) => from.results.length === 1,
    ({ result }) => result.stems.at(-1) === parameter.stems.at(-1),
  ];
  return preferences.reduce((candidates, isPreferred) => {
    const preferred = candidates.filter(isPreferred);
    return preferred.length > 0 ? preferred : candidates;
  }, products);
}

/**
 * Whether the second tool returns what the first one needs, by type: then the order may be the opposite. A text says so
 * only where the first tool works on any text.
 */
function backFit(from: ToolFacts, to: ToolFacts): 'operand' | 'number' | undefined {
  const fitted = from.parameters.filter(
    (parameter) =>
      parameter.isRequired &&
      to.results.some((result) => isProduct(result) && fitOf(result.types, parameter.types) === 'same'),
  );
  if (fitted.some((parameter) => isOperand(from, parameter))) return 'operand';
  return fitted.some(isNumeric) ? 'number' : undefined;
}

function isNumeric({ types }: Field): boolean {
  return types?.has('string') !== true;
}

/** `The amount to be converted`, `The text to translate`: the noun and the verb. */
const OBJECT = /\b(\p{L}+) to (?:be (\p{L}+)|(\p{L}+)\W*$)/gu;

function isOperand({ tool }: ToolFacts, { isRequired, stems, description }: Parameter): boolean {
  if (!isRequired) return false;
  if (isContent(stems)) return true;
  const roots = rootsOf(tool.name);
  return [...description.toLowerCase().matchAll(OBJECT)].some(
    ([, noun = '', passive, last = '']) =>
      singular(noun) === stems.at(-1) && roots.has(rootOf(passive ?? last)),
  );
}

function isProduct({ stems, types }: Field): boolean {
  return !isGeneric(stems) && !isOutcome(stems) && stems.at(-1) !== 'id' && types?.has('boolean') !== true;
}

function isPurpose({ tool }: ToolFacts, { stems }: Field): boolean {
  const roots = rootsOf(`${tool.name} ${tool.description ?? ''}`);
  return stems.some((stem) => roots.has(rootOf(stem)));
}
