import {
  itemsIn,
  type JsonType,
  propertyNames,
  requiredKeys,
  type SchemaView,
  stepInto,
  typesIn,
  viewOf,
} from '../check/schema-view.js';
import { isJsonObject } from '../graph/json.js';
import type { ToolDescription } from './tool.js';
import { isGeneric, isVerb, singular, stemsOf, wordsOf } from './words.js';

/** A parameter of a tool, or a field of its result. */
export interface Field {
  readonly name: string;
  /** Where it is: `passenger.name`, `flights[].id`. */
  readonly path: string;
  readonly stems: readonly string[];
  /** The stems of the objects it lies in. */
  readonly around: readonly string[];
  /** `undefined` if any type is possible. */
  readonly types: ReadonlySet<JsonType> | undefined;
  readonly description: string;
}

export interface Parameter extends Field {
  readonly isRequired: boolean;
}

/** How deep fields are read: below that a plan would not look for a value. */
const DEPTH = 4;

/** The parameters of a tool; of an object, its properties as well. */
export function parametersOf({ inputSchema }: ToolDescription): Parameter[] {
  const parameters: Parameter[] = [];
  const visit = (
    view: SchemaView,
    path: string,
    around: readonly string[],
    isNeeded: boolean,
    depth: number,
  ) => {
    const required = new Set(requiredKeys(view));
    for (const name of propertyNames(view)) {
      const inside = partOf(view, name);
      const isRequired = isNeeded && required.has(name);
      const field = fieldOf(name, path, around, inside, descriptionOf(view, name));
      parameters.push({ ...field, isRequired });
      if (depth < DEPTH && typesIn(inside)?.has('object')) {
        visit(inside, `${field.path}.`, [...around, ...field.stems], isRequired, depth + 1);
      }
    }
  };
  visit(viewOf(inputSchema), '', [], true, 1);
  return parameters;
}

/** The fields of a tool's result: by its schema, its hints, and the identifiers that its description names. */
function resultsOf(tool: ToolDescription): Field[] {
  const { outputSchema, hints, description = '' } = tool;
  const fields: Field[] = [];
  const visit = (view: SchemaView, path: string, around: readonly string[], depth: number): void => {
    const items = typesIn(view)?.has('array') ? itemsIn(view) : undefined;
    if (items !== undefined && depth < DEPTH) visit(items, `${path}[]`, around, depth + 1);
    for (const name of propertyNames(view)) {
      const inside = partOf(view, name);
      const field = fieldOf(name, path === '' ? '' : `${path}.`, around, inside, descriptionOf(view, name));
      fields.push(field);
      if (depth < DEPTH) visit(inside, field.path, [...around, ...field.stems], depth + 1);
    }
  };
  if (outputSchema !== undefined) visit(viewOf(outputSchema), '', [], 1);
  const names = new Set(fields.map(({ name }) => name));
  const named = [...(hints?.outputs ?? []), ...identifiersIn(description)];
  for (const name of new Set(named)) {
    if (!names.has(name)) fields.push(fieldOf(name, '', [], viewOf({}), ''));
  }
  return fields;
}

/** `Returns the booking_id`: names with an underscore or a capital inside, behind the word. */
function identifiersIn(description: string): string[] {
  const said = [...description.matchAll(/\breturns?\b([^.;\n]*)/gi)].map(([, rest]) => rest ?? '').join(' ');
  return (
    said.match(/\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]*)+\b/g) ?? []
  ).filter((name) => wordsOf(name).at(-1) === 'id');
}

function partOf(view: SchemaView, name: string): SchemaView {
  const step = stepInto(view, name);
  return step.kind === 'found' ? step.view : viewOf({});
}

function fieldOf(
  name: string,
  path: string,
  around: readonly string[],
  view: SchemaView,
  description: string,
): Field {
  return {
    name,
    path: `${path}${name}`,
    stems: stemsOf(name),
    around,
    types: typesWithItems(view),
    description,
  };
}

/** The types of a value, or of an item of it: a plan may choose one of a list, or make a list of one. */
function typesWithItems(view: SchemaView): ReadonlySet<JsonType> | undefined {
  const types = typesIn(view);
  if (types?.has('array') !== true) return types;
  const items = itemsIn(view);
  const inside = items && typesIn(items);
  return inside === undefined ? types : new Set([...types, ...inside]);
}

/** The description of a property. A property without a type has one as well. */
function descriptionOf({ shapes }: SchemaView, name: string): string {
  if (shapes === 'unknown') return '';
  const parts = shapes.flatMap(({ properties }) => {
    const part = isJsonObject(properties) ? properties[name] : undefined;
    return isJsonObject(part) && typeof part.description === 'string' ? [part.description] : [];
  });
  return parts.join(' ');
}

type Types = ReadonlySet<JsonType> | undefined;

/**
 * Whether a value may be given for a parameter: `same` by their types, or an item of a list, or as the only item;
 * `text` if it has to be written as text first; `no` if neither.
 */
export function fitOf(from: Types, to: Types): 'same' | 'text' | 'no' {
  if (from === undefined || to === undefined) return 'same';
  const numbers = (types: ReadonlySet<JsonType>) => types.has('integer') || types.has('number');
  if ([...from].some((type) => type !== 'null' && to.has(type))) return 'same';
  if (numbers(from) && numbers(to)) return 'same';
  return to.has('string') && !from.has('boolean') ? 'text' : 'no';
}

/** A tool with what inference asks of it, read once. */
export interface ToolFacts {
  readonly tool: ToolDescription;
  readonly parameters: readonly Parameter[];
  /** The fields of the result, without those that only repeat the input. */
  readonly results: readonly Field[];
  /** Whether a schema, a hint or the description says what the tool returns. */
  readonly hasResults: boolean;
  /** The subjects of the tool: the nouns of its name. */
  readonly subjects: ReadonlySet<string>;
}

export function factsOf(tool: ToolDescription): ToolFacts {
  const parameters = parametersOf(tool);
  const nouns = wordsOf(tool.name)
    .filter((word) => !isVerb(word))
    .map(singular);
  const subjects = new Set(nouns.filter((noun) => !isGeneric([noun])));
  const fields = resultsOf(tool);
  const inputs = new Set(parameters.map((parameter) => identityOf(parameter, subjects)));
  const results = fields.filter((field) => !inputs.has(identityOf(field, subjects)));
  return { tool, parameters, results, hasResults: fields.length > 0, subjects };
}

/** The name of a field in full: `id` of a tool about bookings is a `booking id`. */
function identityOf({ stems, around }: Field, subjects: ReadonlySet<string>): string {
  const isBare = isGeneric(stems) && around.length === 0;
  const owner = isBare && subjects.size === 1 ? [...subjects] : [];
  return [...owner, ...stems].join(' ');
}

/** `flight` and `id` of `flight_id`: a generic name with its owner. */
export function ownedPart({ stems }: Field): { readonly owner: string; readonly part: string } | undefined {
  const part = stems.at(-1);
  const owner = stems.at(-2);
  if (part === undefined || owner === undefined) return undefined;
  return isGeneric([part]) && !isGeneric([owner]) ? { owner, part } : undefined;
}
