import { itemsIn, requiredKeys, SchemaView, stepInto, typeOfJson, viewOf } from '../../check/schema-view.js';
import { defined } from '../../graph/defined.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from '../../graph/json.js';

/** A text that is a reference, which has the type of what it refers to. */
const REFERENCE: JsonSchema = { type: 'string', pattern: '^\\$' };

/** A text with a reference in it. */
const WITH_REFERENCE: JsonSchema = { type: 'string', pattern: '\\$' };

/** Deeper values are not described. */
const MAX_DEPTH = 6;

/**
 * The schema of arguments as they are written in a spec file: each value may be a reference. Keywords that only narrow a
 * value are left out: what a reference will be is not known.
 *
 * @param isChecked - whether unknown and missing arguments are faults. The checker has the same rules.
 */
export function writtenArguments(schema: JsonSchema, isChecked: boolean): JsonSchema {
  const view = viewOf(schema);
  const { shapes } = view;
  if (shapes === 'unknown') return { type: 'object' };
  const names = new Set(
    shapes.flatMap(({ properties }) => (isJsonObject(properties) ? Object.keys(properties) : [])),
  );
  const properties = Object.fromEntries(
    [...names].map((name) => [name, writtenValue(partOf(shapes, name), viewIn(view, name), 0)]),
  );
  const required = isChecked ? requiredKeys(view) : [];
  return {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(isChecked && shapes.every(isClosed) ? { additionalProperties: false } : {}),
  };
}

function isClosed({ additionalProperties, patternProperties }: JsonSchema): boolean {
  return additionalProperties === false && patternProperties === undefined;
}

/** What is said about a property, for people. */
function partOf(shapes: readonly JsonSchema[], name: string): JsonObject {
  for (const { properties } of shapes) {
    const part = isJsonObject(properties) ? properties[name] : undefined;
    if (isJsonObject(part ?? null)) return part as JsonObject;
  }
  return {};
}

function viewIn(view: SchemaView, key: string): SchemaView | undefined {
  const step = stepInto(view, key);
  return step.kind === 'found' ? step.view : undefined;
}

function writtenValue(part: JsonObject, view: SchemaView | undefined, depth: number): JsonSchema {
  const { title, description, default: fallback } = part;
  return {
    ...defined({ title, description }),
    ...(fallback === undefined || isJsonObject(fallback) || Array.isArray(fallback)
      ? {}
      : { default: fallback }),
    ...formsOf(view, depth),
  };
}

function formsOf(view: SchemaView | undefined, depth: number): JsonSchema {
  if (view === undefined || view.shapes === 'unknown' || depth > MAX_DEPTH) return {};
  const forms = view.shapes.map((shape) => formOf(new SchemaView(view.root, [shape]), shape, depth));
  const distinct = [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()];
  const takesText = distinct.some((form) => form.type === 'string' && form.pattern === undefined);
  const [only] = distinct;
  if (takesText && distinct.length === 1 && only !== undefined) return only;
  return { anyOf: takesText ? distinct : [...distinct, REFERENCE] };
}

function formOf(view: SchemaView, shape: JsonSchema, depth: number): JsonSchema {
  const listed = shape.const === undefined ? shape.enum : [shape.const];
  if (Array.isArray(listed)) {
    const texts = listed.some((value: Json) => typeOfJson(value) === 'string') ? [WITH_REFERENCE] : [];
    return texts.length === 0 ? { enum: listed } : { anyOf: [{ enum: listed }, ...texts] };
  }
  switch (shape.type) {
    case 'object':
      return objectForm(view, shape, depth);
    case 'array': {
      const items = itemsIn(view);
      return { type: 'array', ...(items === undefined ? {} : { items: formsOf(items, depth + 1) }) };
    }
    default:
      return { type: shape.type as Json };
  }
}

function objectForm(view: SchemaView, shape: JsonSchema, depth: number): JsonSchema {
  const { properties } = shape;
  if (!isJsonObject(properties)) return { type: 'object' };
  const written = Object.keys(properties).map((name): [string, JsonSchema] => [
    name,
    writtenValue(partOf([shape], name), viewIn(view, name), depth + 1),
  ]);
  const required = requiredKeys(view);
  return {
    type: 'object',
    properties: Object.fromEntries(written),
    ...(required.length === 0 ? {} : { required }),
    ...(isClosed(shape) ? { additionalProperties: false } : {}),
  };
}
