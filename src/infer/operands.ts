import { CONFIDENCE } from './evidence.js';
import type { ToolFacts } from './facts.js';
import type { FieldEdge } from './field-evidence.js';
import type { Field, Parameter } from './fields.js';
import { fitOf } from './fit.js';
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
      .map((result) => ({ from, result })),
  );
  return operands.flatMap((operand) => {
    const { to, parameter } = operand;
    const others = products.filter(({ from }) => from !== to);
    const fitting = (fit: 'same' | 'text') =>
      others.filter(({ result }) => fitOf(result.types, parameter.types) === fit);
    const same = fitting('same');
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
  if (!isPurpose(product)) return CONFIDENCE.optional;
  const isText = fitOf(result.types, parameter.types) === 'text';
  const back = backFits(from, to);
  if (isText && back !== undefined) return CONFIDENCE.optional;
  const doubt =
    (isText || from.results.length > 1 ? 10 : 0) + (back === 'number' ? 5 : 0) + 5 * Math.max(0, tools - 2);
  return Math.max(CONFIDENCE.genericName, (100 * CONFIDENCE.operand - doubt) / 100);
}

/** Whether the second tool returns what the first one needs, by type: then the order may be the opposite. */
function backFits(from: ToolFacts, to: ToolFacts): 'text' | 'number' | undefined {
  const needed = from.parameters.filter(({ isRequired }) => isRequired);
  const fitted = needed.filter(({ types }) =>
    to.results.some((result) => isProduct(result) && fitOf(result.types, types) === 'same'),
  );
  if (fitted.length === 0) return undefined;
  return fitted.some(({ types }) => types?.has('string') !== true) ? 'number' : 'text';
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

/** True if the result is what the tool is for, by its name and description. */
function isPurpose({ from: { tool }, result }: Product): boolean {
  const roots = rootsOf(`${tool.name} ${tool.description ?? ''}`);
  return result.stems.some((stem) => roots.has(rootOf(stem)));
}
