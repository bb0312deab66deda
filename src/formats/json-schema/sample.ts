import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  ownProperty,
  referredValue,
} from '../../graph/json.js';

/** How deep a sample is at most: a schema may refer to itself. */
const DEEPEST = 12;

/**
 * A value that fits most schemas of this form: the default, an example or the first choice where there is one, else the
 * number next to 0 and the shortest text, with required members alone. It does not look at patterns and combinations of conditions.
 *
 * @param items how many items a list has, if its schema allows it.
 */
export function sampleOf(schema: JsonSchema, items: 0 | 1 = 0): Json {
  return sample(schema, { root: schema, items }, DEEPEST);
}

interface Sampling {
  readonly root: JsonSchema;
  readonly items: number;
}

function sample(schema: Json, root: Sampling, depth: number): Json {
  if (!isJsonObject(schema) || depth === 0) return null;
  const { $ref: ref, const: constant, default: defaultValue, examples, enum: choices } = schema;
  if (typeof ref === 'string') return sample(referredValue(ref, root.root) ?? null, root, depth - 1);
  const [first] = [constant, defaultValue, ...list(examples), ...list(choices)].filter(
    (each) => each !== undefined,
  );
  if (first !== undefined) return first;
  const [option] = [...list(schema.oneOf), ...list(schema.anyOf)];
  if (option !== undefined) return sample(option, root, depth - 1);
  const all = list(schema.allOf);
  if (all.length === 0) return ofType(schema, root, depth);
  const parts = [ofType(schema, root, depth), ...all.map((part) => sample(part, root, depth - 1))];
  const objects = parts.filter(isJsonObject);
  return objects.length > 0 ? Object.assign({}, ...objects) : (parts.find((part) => part !== null) ?? null);
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function ofType(schema: JsonObject, root: Sampling, depth: number): Json {
  const [named] = Array.isArray(schema.type) ? schema.type : [schema.type];
  switch (named ?? (isJsonObject(schema.properties) ? 'object' : undefined)) {
    case 'object': {
      const properties = isJsonObject(schema.properties) ? schema.properties : {};
      const names = list(schema.required).filter((name) => typeof name === 'string');
      return Object.fromEntries(
        names.map((name) => [name, sample(ownProperty(properties, name) ?? {}, root, depth - 1)]),
      );
    }
    case 'array': {
      const most = typeof schema.maxItems === 'number' ? schema.maxItems : 100;
      const count = Math.min(Math.max(amount(schema.minItems), root.items), most, 100);
      return Array.from({ length: count }, () => sample(schema.items ?? {}, root, depth - 1));
    }
    case 'string':
      return textOf(schema);
    case 'integer':
      return numberOf(schema, true);
    case 'number':
      return numberOf(schema, false);
    case 'boolean':
      return false;
    default:
      return null;
  }
}

function amount(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

/** The number next to 0 within the bounds; between two that are closer than 1, the one in the middle. */
function numberOf(schema: JsonObject, isInteger: boolean): number {
  const bound = (name: string, missing: number): number => {
    const value = schema[name];
    return typeof value === 'number' ? value : missing;
  };
  const [above, below] = [bound('exclusiveMinimum', -Infinity), bound('exclusiveMaximum', Infinity)];
  const [from, to] = [bound('minimum', -Infinity), bound('maximum', Infinity)];
  const least = isInteger ? Math.max(Math.ceil(from), Math.floor(above) + 1) : Math.max(from, above + 1);
  const most = isInteger ? Math.min(Math.floor(to), Math.ceil(below) - 1) : Math.min(to, below - 1);
  if (least > most && !isInteger) return (Math.max(from, above) + Math.min(to, below)) / 2;
  return Math.min(Math.max(0, least), most);
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2000-01-01T00:00:00Z',
  date: '2000-01-01',
  time: '00:00:00Z',
  email: 'stub@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function textOf({ format, minLength }: JsonObject): string {
  const formatted = typeof format === 'string' ? ownProperty(FORMATS, format) : undefined;
  return formatted ?? 'stub'.padEnd(Math.min(amount(minLength), 1_000), 'x');
}
