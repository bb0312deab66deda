import { append, getOrInsert } from '../graph/maps.js';
import { compareText } from '../graph/names.js';
import { CONFIDENCE, type Edge, ENOUGH, type Evidence, isFinal, orderingPhrases } from './evidence.js';
import { type Field, factsOf, fitOf, ownedPart, type Parameter, type ToolFacts } from './fields.js';
import { type Choice, type HintFault, readHints } from './hints.js';
import { type Arc, cyclesIn } from './order.js';
import { sequencesOf } from './sequences.js';
import type { ToolDescription } from './tool.js';
import { isContent, isCreating, isGeneric, isOutcome, rankOf, rootOf, rootsOf, singular } from './words.js';

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
    const row = getOrInsert(evidences, from, () => new Map<string, Evidence[]>());
    append(row, to, evidence);
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

/** An edge between two tools, for one value. */
interface FieldEdge {
  readonly from: ToolFacts;
  readonly to: ToolFacts;
  readonly evidence: Evidence;
}

/** Edges of values that go from one tool to another: one for each result and parameter whose schemas match. */
function fieldEdges(tools: readonly ToolFacts[]): FieldEdge[] {
  // Names that match have the last word in common.
  const byLastWord = new Map<string, { readonly from: ToolFacts; readonly result: Field }[]>();
  for (const from of tools) {
    for (const result of from.results) {
      const word = result.stems.at(-1) ?? '';
      append(byLastWord, word, { from, result });
    }
  }
  return tools.flatMap((to) =>
    to.parameters.flatMap((parameter) => {
      const named = byLastWord.get(parameter.stems.at(-1) ?? '') ?? [];
      return withoutMentions(
        parameter,
        named.flatMap(({ from, result }) => {
          const evidence = from === to ? undefined : evidenceOf(from, result, to, parameter);
          return evidence === undefined ? [] : [{ from, to, result, evidence }];
        }),
      );
    }),
  );
}

/**
 * Where a tool about flights returns the `flight_id`, others only mention it: a booking has a flight, but is not where
 * flights come from.
 */
function withoutMentions(
  parameter: Parameter,
  edges: readonly (FieldEdge & { readonly result: Field })[],
): FieldEdge[] {
  const owned = ownedPart(parameter);
  const isSource = ({ from, result }: (typeof edges)[number]) =>
    owned !== undefined && isAbout(from, result, owned.owner);
  const hasSource = edges.some((edge) => edge.evidence.confidence >= ENOUGH && isSource(edge));
  return edges.map((edge) => {
    const { from, to, evidence } = edge;
    if (!hasSource || isSource(edge)) return { from, to, evidence };
    const confidence = Math.min(evidence.confidence, CONFIDENCE.contradicted);
    return { from, to, evidence: { ...evidence, confidence } };
  });
}

function evidenceOf(
  from: ToolFacts,
  result: Field,
  to: ToolFacts,
  parameter: Parameter,
): Evidence | undefined {
  if (fitOf(result.types, parameter.types) !== 'same') return undefined;
  const match = matchOf(from, result, to, parameter);
  if (match === undefined) return undefined;
  const optional = parameter.isRequired ? '' : ', which is optional';
  return {
    kind: match.kind,
    confidence: Math.min(
      match.confidence,
      isNew(match, from, to, parameter) ? CONFIDENCE.genericName : limitOf(from, to, parameter),
    ),
    text: `\`${result.path}\` of ${from.tool.name} ${match.text} \`${parameter.path}\` of ${to.tool.name}${optional}`,
    link: { output: result.path, parameter: parameter.path },
  };
}

/** What a tool makes is new: what another one reads of that name need not be its source. */
function isNew(match: Match, from: ToolFacts, to: ToolFacts, parameter: Parameter): boolean {
  return (
    match === EQUAL && !isCreating(from.tool) && isCreating(to.tool) && ownedPart(parameter) === undefined
  );
}

/** Optional parameters, searches by details of what was done, and reads of what is yet to be made order nothing. */
function limitOf(from: ToolFacts, to: ToolFacts, parameter: Parameter): number {
  if (!parameter.isRequired) return CONFIDENCE.optional;
  const isBackwards = (rankOf(from.tool) ?? 0) >= 2 && rankOf(to.tool) === 0;
  const isDoubtful = (isBackwards && ownedPart(parameter) === undefined) || needsResultOf(from, to);
  return isDoubtful ? CONFIDENCE.contradicted : CONFIDENCE.hint;
}

/** True if the first tool takes the identifier of what the second one makes, as `get_booking` does of `create_booking`. */
function needsResultOf(from: ToolFacts, to: ToolFacts): boolean {
  if (rankOf(to.tool) !== 2) return false;
  const idsOf = ({ parameters }: ToolFacts) =>
    parameters.flatMap((parameter) => {
      const owned = ownedPart(parameter);
      return parameter.isRequired && owned?.part === 'id' ? [owned.owner] : [];
    });
  const own = new Set(idsOf(to));
  return idsOf(from).some((owner) => to.subjects.has(owner) && !own.has(owner));
}

interface Match {
  readonly kind: 'field' | 'identity';
  readonly confidence: number;
  readonly text: string;
}

const EQUAL: Match = { kind: 'field', confidence: CONFIDENCE.equalName, text: 'has the name of' };
const GENERIC: Match = {
  kind: 'field',
  confidence: CONFIDENCE.genericName,
  text: 'has only the generic name of',
};
const IDENTITY: Match = { kind: 'identity', confidence: CONFIDENCE.identity, text: 'is what is meant by' };
const QUALIFIED: Match = { kind: 'field', confidence: CONFIDENCE.qualifiedName, text: 'is a kind of' };

function matchOf(from: ToolFacts, result: Field, to: ToolFacts, parameter: Parameter): Match | undefined {
  const resultName = result.stems.join(' ');
  const parameterName = parameter.stems.join(' ');
  if (resultName === parameterName) {
    if (!isSamePlace(result, parameter)) return undefined;
    const container = parameter.around.slice(-1);
    const isNamed = !isGeneric(result.stems) && (container.length === 0 || !isGeneric(container));
    if (isNamed) return EQUAL;
    return sharesSubject(from, to) ? IDENTITY : GENERIC;
  }
  const wanted = ownedPart(parameter);
  if (wanted !== undefined && resultName === wanted.part && isAbout(from, result, wanted.owner))
    return IDENTITY;
  const owned = ownedPart(result);
  if (owned !== undefined && parameterName === owned.part && isAbout(to, parameter, owned.owner))
    return IDENTITY;
  return !isGeneric(parameter.stems) && resultName.endsWith(` ${parameterName}`) ? QUALIFIED : undefined;
}

/** Fields of two objects are the same only in objects of one name: `price.cents` is not `discount.cents`. */
function isSamePlace(result: Field, parameter: Field): boolean {
  const [inside, into] = [result.around.at(-1), parameter.around.at(-1)];
  return inside === undefined || into === undefined || inside === into;
}

/** True if a field belongs to the subject: to the object around it, or else to what the tool is about. */
function isAbout({ subjects }: ToolFacts, { around }: Field, subject: string): boolean {
  return around.length > 0 ? around.includes(subject) : subjects.has(subject);
}

function sharesSubject(from: ToolFacts, to: ToolFacts): boolean {
  return [...from.subjects].some((subject) => to.subjects.has(subject));
}

/**
 * Pairs a parameter such as `flight_id` with the only tool that finds flights, or else makes them, if no tool is known to
 * return it. Many servers do not say what their tools return.
 */
function sourceEdges(tools: readonly ToolFacts[]): FieldEdge[] {
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
