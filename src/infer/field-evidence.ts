import { CONFIDENCE, ENOUGH, type Evidence } from './evidence.js';
import { type Field, fitOf, ownedPart, type Parameter, type ToolFacts } from './fields.js';
import { isCreating, rankOf } from './lifecycle.js';
import { isGeneric } from './words.js';

/** An edge between two tools, for one value. */
export interface FieldEdge {
  readonly from: ToolFacts;
  readonly to: ToolFacts;
  readonly evidence: Evidence;
}

/** Edges of values that go from one tool to another: one for each result and parameter whose schemas match. */
export function fieldEdges(tools: readonly ToolFacts[]): FieldEdge[] {
  // Names that match have the last word in common.
  const byLastWord = new Map<string, { readonly from: ToolFacts; readonly result: Field }[]>();
  for (const from of tools) {
    for (const result of from.results) {
      const word = result.stems.at(-1) ?? '';
      const entries = byLastWord.get(word);
      if (entries === undefined) byLastWord.set(word, [{ from, result }]);
      else entries.push({ from, result });
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
