import type { JsonTypeName, ValueRules } from '../../decorators/arg.js';
import { valueFault } from '../../formats/json-schema/schema-compiler.js';
import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import { references } from '../../graph/expression/traversal.js';
import { isJsonObject, type Json, type JsonObject, type JsonSchema, ownProperty } from '../../graph/json.js';
import type { Node } from '../../graph/kinds/node.js';
import type { Input, StateField } from '../../graph/model.js';
import { expressionsOf, withBodies } from '../../graph/nodes.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { ArgDeclaration, Declarations, LinkedPrompt, Phase, StateDeclaration } from '../declarations.js';
import { problemOf, schemaOfValue } from '../schemas/type-schema.js';
import {
  type ExpressionSyntax,
  printType,
  type TypeSyntax,
  unresolvedType,
  whyUnresolved,
  withoutUndefined,
} from '../syntax.js';
import { unwrap } from '../verbs.js';

/** An argument as an input of the graph; nothing where its type has no schema or a rule a fault, which is reported. */
export function linkInput(arg: ArgDeclaration, report: Report): Input | undefined {
  const { name, argument, place, options } = arg;
  const typed = options.itemType === undefined ? schemaOfArg(arg.type) : schemaOfList(arg.type);
  const unresolved = unresolvedType(arg.type);
  if (unresolved !== undefined && (typed === undefined || options.itemType === undefined)) {
    const what = `argument \`${name}\``;
    const params = { name: unresolved.name, what, why: whyUnresolved(unresolved) };
    report(diagnostic('SW6016', unresolved.place, params));
    return undefined;
  }
  if (typed === undefined) {
    const tag = schemaOfValue(withoutUndefined(arg.type)).faults.find(({ kind }) => kind === 'tag');
    const problem = tag && problemOf({ ...tag, path: tag.path.replace(/^input\.value/, name) });
    report(diagnostic('SW1017', tag?.place ?? place, { argument: name, type: printType(arg.type), problem }));
    return undefined;
  }
  // The rules of the options admit nothing else.
  const { schema, faults } = applyRules(typed, options as ValueRules);
  for (const fault of faults) report(ruleDiagnostic(arg, fault));
  const fallback = options.default as Json | undefined;
  const isSound = faults.length === 0 && checkDefault(arg, typed, schema, report);
  if (!isSound) return undefined;
  // A description that is missing has been reported.
  const { title, description = name, secret } = options as Partial<Input>;
  return {
    name: argument,
    ...defined({ title }),
    description,
    schema,
    required: !arg.optional && fallback === undefined,
    ...defined({ default: fallback }),
    ...(secret === true ? { secret } : {}),
    source: place,
  };
}

function checkDefault(
  { type, options, optionSyntax, place }: ArgDeclaration,
  typed: JsonSchema,
  schema: JsonSchema,
  report: Report,
): boolean {
  const fallback = options.default as Json | undefined;
  if (fallback === undefined) return true;
  const refuse = (expected: string): boolean => {
    const at = optionSyntax.default?.place ?? place;
    report(diagnostic('SW1012', at, { decorator: 'Arg', option: 'default', expected }));
    return false;
  };
  if (valueFault(typed, fallback) !== undefined)
    return refuse(`of the argument's type, \`${printType(type)}\``);
  const why = valueFault(schema, fallback);
  return why === undefined || refuse(`what the rules beside it allow: ${why}`);
}

function ruleDiagnostic({ name, optionSyntax, place }: ArgDeclaration, { path, why }: RuleFault): Diagnostic {
  const option = path.join('.');
  const at = placeOfRule(optionSyntax, path) ?? place;
  if (why.kind === 'wrong') {
    return diagnostic('SW1012', at, { decorator: 'Arg', option, expected: why.expected });
  }
  // `properties.width.min` is about `box.width`.
  const about = [name, ...path.slice(0, -1).filter((_, index) => index % 2 === 1)].join('.');
  return diagnostic('SW1021', at, { decorator: 'Arg', option, takes: why.takes, name: about });
}

/** Where the rule at the end of a path is written. */
function placeOfRule(
  options: Readonly<Record<string, ExpressionSyntax>>,
  [first = '', ...rest]: readonly string[],
): SourceLocation | undefined {
  let syntax = options[first];
  for (const key of rest) {
    const object = syntax && unwrap(syntax);
    if (object?.kind !== 'object') break;
    const entry = object.entries.find((each) => 'value' in each && each.key === key);
    if (entry === undefined || !('value' in entry)) break;
    syntax = entry.value;
  }
  return syntax?.place;
}

/** The schema of a list. For items of an unknown type, `itemType` says all. */
function schemaOfList(type: TypeSyntax): JsonSchema | undefined {
  const isOpen = type.kind === 'array' && type.items.kind === 'unknown';
  return isOpen ? { type: 'array' } : schemaOfArg(type);
}

/**
 * The JSON Schema of an argument's type: text, numbers, booleans, unions of literals, arrays and objects. Other unions
 * have none: a prompt's arguments come as text, and no rule says which member a text means.
 */
function schemaOfArg(type: TypeSyntax): JsonSchema | undefined {
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'template':
    case 'array':
    case 'tuple':
    case 'object':
    case 'record':
    case 'recursive':
      return schemaOfValue(type).schema;
    case 'literal':
      return enumOf([type.value]);
    case 'union': {
      const values = type.members.map((member) => (member.kind === 'literal' ? member.value : undefined));
      return values.every((value) => value !== undefined) ? enumOf(values) : undefined;
    }
    case 'ref':
    case 'null':
    case 'undefined':
    case 'unknown':
    case 'other':
      return undefined;
    default:
      return type satisfies never;
  }
}

function enumOf(values: readonly (string | number | boolean)[]): JsonSchema | undefined {
  const types = [...new Set(values.map((value) => typeof value))];
  const [only] = types;
  return only !== undefined && types.length === 1 ? { type: only, enum: values } : undefined;
}

/** Describes the arguments of every prompt for callers. Faulty arguments are left out and reported. */
export function linkPrompts({ prompts }: Pick<Declarations, 'prompts'>): Phase<readonly LinkedPrompt[]> {
  const diagnostics: Diagnostic[] = [];
  const value = prompts.map(
    (declaration): LinkedPrompt => ({
      declaration,
      arguments: declaration.args.flatMap(
        (arg) => linkInput(arg, (fault) => void diagnostics.push(fault)) ?? [],
      ),
    }),
  );
  return { value, diagnostics };
}

/** A rule that cannot apply to a value. */
interface RuleFault {
  /** The path to the rule from the options: `properties`, `width`, `min`. */
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

/** Narrows the schema of a type by the author's rules, and lists the rules that contradict it. */
function applyRules(
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
  const cached = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined;
  const isOfType = values.every((value) => fitsType(value, schema.type));
  if (!isOfType) wrong('enum', 'of values of the type');
  else if (cached !== undefined && !values.every((value) => cached.includes(value)))
    wrong('enum', `of ${cached.map((value) => JSON.stringify(value)).join(', ')}`);
  delete schema.const;
  schema.enum = values;
}

function fitsType(value: string | number, type: Json | undefined): boolean {
  if (type === 'string') return typeof value === 'string';
  if (type === 'integer') return Number.isInteger(value);
  return type !== 'number' || typeof value === 'number';
}

/** The items' type may be as narrow as `itemType` already, or unknown. */
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

/** The fields of state by class; faulty ones are absent. */
export type LinkedStates = ReadonlyMap<StateDeclaration, StateField>;

/** Makes fields of state of classes. Reports types without a JSON form. */
export function linkStates(declarations: readonly StateDeclaration[], report: Report): LinkedStates {
  const states = new Map<StateDeclaration, StateField>();
  for (const state of declarations) {
    const schema = schemaOfState(state, report);
    if (schema === undefined || !isInitialFitting(state, schema, report)) continue;
    const { name, scope = 'run', initial, place: source } = state;
    states.set(state, { name, scope, schema, ...defined({ initial }), source });
  }
  return states;
}

function schemaOfState({ name, type, typePlace }: StateDeclaration, report: Report): JsonSchema | undefined {
  const { schema, faults } = schemaOfValue(withoutUndefined(type));
  for (const fault of faults) {
    const problem = problemOf({ ...fault, path: fault.path.replace(/^input\./, '') });
    const hint = fault.kind === 'tag' ? undefined : fault.hint;
    const place = fault.kind === 'tag' ? fault.place : typePlace;
    report(diagnostic('SW1025', place, { state: name, problem }, { hint }));
  }
  return schema;
}

function isInitialFitting(
  { initial, initialPlace, place }: StateDeclaration,
  schema: JsonSchema,
  report: Report,
): boolean {
  const why = initial === undefined ? undefined : valueFault(schema, initial);
  if (why === undefined) return true;
  const params = { decorator: 'State', option: 'initial', expected: `of the type of \`value\`: ${why}` };
  report(diagnostic('SW1012', initialPlace ?? place, params));
  return false;
}

/** Gives each node the state fields that its own expressions read; those of nodes in its bodies are theirs. */
export function withReads(nodes: readonly Node[]): readonly Node[] {
  return nodes.map((node): Node => {
    const refs = expressionsOf(node).flatMap((expr) => references(expr));
    const fields = refs.flatMap(({ ref }) => (ref.root === 'state' ? String(ref.path[0]) : []));
    const inner = withBodies(node, (scope) => ({ ...scope, nodes: withReads(scope.nodes) }));
    return { ...inner, reads: [...new Set(fields)].sort() };
  });
}
