import type { JsonTypeName, ValueRules } from '../../decorators/arg-rules.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, ownProperty } from '../../graph/json.js';

/** A rule that cannot stand for a value. */
export interface RuleFault {
  /** The way to the rule from the options: `properties`, `width`, `min`. */
  readonly path: readonly string[];
  /** What goes wrong: the value is of another kind, or the rule contradicts it or another rule. */
  readonly why:
    | { readonly kind: 'misplaced'; readonly takes: string }
    | { readonly kind: 'wrong'; readonly expected: string };
}

/** The kind of value a rule is about, and its keyword in JSON Schema. */
const RULES: Readonly<
  Record<
    Exclude<keyof ValueRules, 'properties'>,
    { readonly about: readonly string[]; readonly takes: string; readonly keyword?: string }
  >
> = {
  type: { about: ['number', 'integer'], takes: 'a number' },
  min: { about: ['number', 'integer'], takes: 'a number', keyword: 'minimum' },
  max: { about: ['number', 'integer'], takes: 'a number', keyword: 'maximum' },
  pattern: { about: ['string'], takes: 'text', keyword: 'pattern' },
  minLength: { about: ['string'], takes: 'text', keyword: 'minLength' },
  maxLength: { about: ['string'], takes: 'text', keyword: 'maxLength' },
  enum: { about: ['string', 'number', 'integer'], takes: 'text or a number' },
  minItems: { about: ['array'], takes: 'a list', keyword: 'minItems' },
  maxItems: { about: ['array'], takes: 'a list', keyword: 'maxItems' },
  itemType: { about: ['array'], takes: 'a list' },
  requiredKeys: { about: ['object'], takes: 'an object' },
};

const PAIRS = [
  ['min', 'max'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
] as const;

/** Narrows the schema of a type by what an author says of the value, and tells which of it cannot be so. */
export function applyRules(
  schema: JsonSchema,
  rules: ValueRules,
): { readonly schema: JsonSchema; readonly faults: readonly RuleFault[] } {
  const faults: RuleFault[] = [];
  return { schema: narrow(schema, rules, [], faults), faults };
}

function narrow(
  schema: JsonSchema,
  rules: ValueRules,
  path: readonly string[],
  faults: RuleFault[],
): JsonSchema {
  const narrowed: Record<string, Json> = { ...schema };
  const wrong = (rule: string, expected: string): void =>
    void faults.push({ path: [...path, rule], why: { kind: 'wrong', expected } });
  for (const [name, { about, takes, keyword }] of Object.entries(RULES)) {
    const value = ownProperty(rules as Readonly<Record<string, Json | undefined>>, name);
    if (value === undefined) continue;
    // A type that several kinds of value have is not looked into: a keyword means nothing to the other kinds.
    if (typeof schema.type === 'string' && !about.includes(schema.type))
      faults.push({ path: [...path, name], why: { kind: 'misplaced', takes } });
    else if (keyword !== undefined) narrowed[keyword] = value;
  }
  for (const [least, most] of PAIRS) {
    const [from, to] = [rules[least], rules[most]];
    if (from !== undefined && to !== undefined && from > to) wrong(most, `at least \`${least}\`, ${from}`);
  }
  if (rules.type !== undefined && narrowed.type === 'number') narrowed.type = rules.type;
  if (rules.enum !== undefined) narrowEnum(narrowed, rules.enum, wrong);
  if (rules.itemType !== undefined && schema.type === 'array') narrowItems(narrowed, rules.itemType, wrong);
  if (rules.requiredKeys !== undefined) narrowKeys(narrowed, rules.requiredKeys, wrong);
  if (rules.properties !== undefined) narrowProperties(narrowed, rules.properties, path, faults);
  return narrowed;
}

type Wrong = (rule: string, expected: string) => void;

function narrowEnum(schema: Record<string, Json>, values: readonly (string | number)[], wrong: Wrong): void {
  const known = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined;
  const isOfType = values.every((value) => fitsType(value, schema.type));
  if (!isOfType) wrong('enum', 'of values of the type');
  else if (known !== undefined && !values.every((value) => known.includes(value)))
    wrong('enum', `of ${known.map((value) => JSON.stringify(value)).join(', ')}`);
  delete schema.const;
  schema.enum = values;
}

function fitsType(value: string | number, type: Json | undefined): boolean {
  if (type === 'string') return typeof value === 'string';
  if (type === 'integer') return Number.isInteger(value);
  return type !== 'number' || typeof value === 'number';
}

/** The type of the items may say as much already, or say nothing. */
function narrowItems(schema: Record<string, Json>, itemType: JsonTypeName, wrong: Wrong): void {
  const items = isJsonObject(schema.items) ? schema.items : {};
  const isNarrower = items.type === undefined || items.type === itemType;
  const isInteger = items.type === 'number' && itemType === 'integer';
  const isNumber = items.type === 'integer' && itemType === 'number';
  if (isNarrower || isInteger) schema.items = { ...items, type: itemType };
  else if (!isNumber) wrong('itemType', `\`'${String(items.type)}'\`, as the items are`);
}

function narrowKeys(schema: Record<string, Json>, keys: readonly string[], wrong: Wrong): void {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const isClosed = schema.additionalProperties === false;
  const unknown = keys.filter((key) => isClosed && !Object.hasOwn(properties, key));
  if (unknown.length > 0)
    wrong('requiredKeys', `a list of properties it has, unlike \`${unknown.join('`, `')}\``);
  const required = Array.isArray(schema.required) ? (schema.required as readonly string[]) : [];
  schema.required = [...new Set([...required, ...keys])];
}

function narrowProperties(
  schema: Record<string, Json>,
  rules: NonNullable<ValueRules['properties']>,
  path: readonly string[],
  faults: RuleFault[],
): void {
  if (typeof schema.type === 'string' && schema.type !== 'object') {
    faults.push({ path: [...path, 'properties'], why: { kind: 'misplaced', takes: 'an object' } });
    return;
  }
  const properties: JsonObject = isJsonObject(schema.properties) ? schema.properties : {};
  const narrowed: Record<string, Json> = { ...properties };
  for (const [key, inner] of Object.entries(rules)) {
    const property = ownProperty(properties, key);
    const way = [...path, 'properties', key];
    if (property === undefined && schema.additionalProperties === false) {
      faults.push({ path: way, why: { kind: 'wrong', expected: 'about a property it has' } });
    } else narrowed[key] = narrow(isJsonObject(property) ? property : {}, inner, way, faults);
  }
  schema.properties = narrowed;
}
