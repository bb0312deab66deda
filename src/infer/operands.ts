import { CONFIDENCE } from './evidence.js';
import type { FieldEdge } from './field-evidence.js';
import { type Field, fitOf, type Parameter, type ToolFacts } from './fields.js';
import { isContent, isGeneric, isOutcome, rootOf, rootsOf, singular } from './words.js';

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
export function operandEdges(
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
