import { defined } from '../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../graph/json.js';
import { clipText, singleLine } from '../graph/printable-text.js';

/** Hints of a tool for a planning model, beside its schemas. Tools are named. */
export interface PlanningHints {
  /** The kind of work: `search`, `validation`, `action`, `payment`, or a synonym. */
  readonly category?: string;
  /** Tools that may follow it. Two or more are alternatives. */
  readonly next?: readonly string[];
  /** Tools that have to be called before it, all of them. */
  readonly requires?: readonly string[];
  /** Tools that workflows call directly before it. No hint of an author: it follows from the workflows. */
  readonly oftenAfter?: readonly string[];
  /** Names of fields of its result. */
  readonly outputs?: readonly string[];
  /** A sentence of advice. */
  readonly hint?: string;
  readonly examples?: readonly Json[];
}

export interface ToolDescription {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly hints?: PlanningHints;
  /** Its annotation `readOnlyHint`. */
  readonly readOnly?: boolean;
}

/** Key of a tool's hints in its `_meta`. */
export const HINTS_META = 'stepwright/hints';

/**
 * Reads a list of tools: an array, `{ tools: […] }` as a result of `tools/list`, or such a result in a response.
 * `undefined` if an item is not a tool.
 */
export function toolsFrom(value: Json): ToolDescription[] | undefined {
  const list = listIn(value);
  const tools = list?.map(toolFrom);
  return tools?.every((tool) => tool !== undefined) === true ? tools : undefined;
}

function listIn(value: Json | undefined): readonly Json[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return undefined;
  return Array.isArray(value.tools)
    ? value.tools
    : isJsonObject(value.result)
      ? listIn(value.result)
      : undefined;
}

function toolFrom(value: Json): ToolDescription | undefined {
  if (!isJsonObject(value) || typeof value.name !== 'string' || value.name === '') return undefined;
  const { name, description, inputSchema, outputSchema, annotations, hints, _meta: meta } = value;
  const readOnly = isJsonObject(annotations) ? annotations.readOnlyHint : undefined;
  const own = isJsonObject(hints) ? hints : isJsonObject(meta) ? meta[HINTS_META] : undefined;
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
    ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
    ...(isJsonObject(own) ? { hints: hintsFrom(own) } : {}),
    ...(typeof readOnly === 'boolean' ? { readOnly } : {}),
  };
}

/** Reads hints. Values of unexpected types are left out. */
export function hintsFrom({
  category,
  next,
  requires,
  oftenAfter,
  outputs,
  hint,
  examples,
}: JsonObject): PlanningHints {
  const texts = (list: Json | undefined) =>
    Array.isArray(list) ? list.filter((each): each is string => typeof each === 'string') : undefined;
  return defined({
    category: typeof category === 'string' ? category : undefined,
    next: texts(next),
    requires: texts(requires),
    oftenAfter: texts(oftenAfter),
    outputs: texts(outputs),
    hint: typeof hint === 'string' ? hint : undefined,
    examples: Array.isArray(examples) ? examples : undefined,
  });
}

/** The longest box, in UTF-16 code units. */
const BOX_LIMIT = 600;

/** The longest line of a box that is shortened. */
const LINE_LIMIT = 120;

/** A box at the end of a description, as {@link describeTool} writes it. */
const BOX = /\n(?: {2}├─ [^\n]*\n)* {2}└─ [^\n]*$/;

/**
 * A description with the tool's hints in a box below it. A box that it has already is replaced. Lines of a box that is
 * too long are shortened, then left out from the end.
 */
export function describeTool(description: string, hints: PlanningHints | undefined): string {
  const bare = description.replace(BOX, '');
  const lines = hints === undefined ? [] : linesOf(hints);
  const short = boxOf(lines).length > BOX_LIMIT ? lines.map((line) => clipText(line, LINE_LIMIT)) : lines;
  while (boxOf(short).length > BOX_LIMIT) short.pop();
  return short.length === 0 ? bare : `${bare}\n${boxOf(short)}`;
}

function linesOf({ category, requires, oftenAfter, outputs, next, hint, examples }: PlanningHints): string[] {
  const line = (title: string, texts: readonly string[] = []): string[] =>
    texts.length === 0 ? [] : [`${title}: ${singleLine(texts.join(', '))}`];
  return [
    ...line('Category', category === undefined ? [] : [category]),
    ...line('Requires', requires),
    ...line('Often after', oftenAfter),
    ...line('Outputs', outputs),
    ...line('Next', next),
    ...line('Hint', hint === undefined ? [] : [hint]),
    ...line(
      'Examples',
      examples?.map((example) => (typeof example === 'string' ? example : JSON.stringify(example))),
    ),
  ];
}

function boxOf(lines: readonly string[]): string {
  return lines.map((line, index) => `  ${index === lines.length - 1 ? '└─' : '├─'} ${line}`).join('\n');
}
