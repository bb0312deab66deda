import type { ValueRules } from '../../decorators/arg-rules.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { isJsonObject, type Json, type JsonSchema } from '../../graph/json.js';
import type { Input } from '../../graph/model.js';
import type { Place } from '../../graph/place.js';
import type { ArgDeclaration } from '../declarations.js';
import { schemaOfType } from '../schemas/type-schema.js';
import type { ExpressionSyntax, TypeSyntax } from '../syntax.js';
import { printType, unresolvedType, whyUnresolved } from '../type-syntax.js';
import { unwrap } from '../verbs.js';
import { schemaFault } from './satisfies.js';
import { applyRules, type RuleFault } from './value-rules.js';

/** An argument as an input of the graph; nothing where its type has no schema or a rule a fault, which is reported. */
export function linkInput(arg: ArgDeclaration, report: (diagnostic: Diagnostic) => void): Input | undefined {
  const { name, argument, place, options } = arg;
  const typed = options.itemType === undefined ? schemaOf(arg.type) : schemaOfList(arg.type);
  const unresolved = unresolvedType(arg.type);
  if (unresolved !== undefined && (typed === undefined || options.itemType === undefined)) {
    const what = `argument \`${name}\``;
    const params = { name: unresolved.name, what, why: whyUnresolved(unresolved) };
    report(diagnostic('SW6016', unresolved.place, params));
    return undefined;
  }
  if (typed === undefined) {
    report(diagnostic('SW1017', place, { argument: name, type: printType(arg.type) }));
    return undefined;
  }
  // The rules of the options admit nothing else.
  const { schema, faults } = applyRules(typed, options as ValueRules);
  for (const fault of faults) report(ruleDiagnostic(arg, fault));
  const fallback = options.default as Json | undefined;
  const isSound = faults.length === 0 && checkDefault(arg, typed, schema, report);
  if (!isSound) return undefined;
  const { title, description, secret } = options;
  return {
    name: argument,
    ...(typeof title === 'string' ? { title } : {}),
    // One that is missing has been reported.
    description: typeof description === 'string' ? description : name,
    schema,
    required: !arg.optional && fallback === undefined,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(secret === true ? { secret } : {}),
    source: place,
  };
}

function checkDefault(
  { type, options, optionSyntax, place }: ArgDeclaration,
  typed: JsonSchema,
  schema: JsonSchema,
  report: (diagnostic: Diagnostic) => void,
): boolean {
  const fallback = options.default as Json | undefined;
  if (fallback === undefined) return true;
  const refuse = (expected: string): boolean => {
    const at = optionSyntax.default?.place ?? place;
    report(diagnostic('SW1012', at, { decorator: 'Arg', option: 'default', expected }));
    return false;
  };
  if (schemaFault(typed, fallback) !== undefined)
    return refuse(`of the argument's type, \`${printType(type)}\``);
  const why = schemaFault(schema, fallback);
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
): Place | undefined {
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

/** Of a list of anything, what `itemType` says is all there is to know. */
function schemaOfList(type: TypeSyntax): JsonSchema | undefined {
  const isOpen = type.kind === 'array' && type.items.kind === 'unknown';
  return isOpen ? { type: 'array' } : schemaOf(type);
}

/**
 * The JSON Schema of an argument's type: text, numbers, booleans, unions of literals, arrays and objects. Other unions
 * have none: a prompt's arguments come as text, and no rule says which member a text means.
 */
function schemaOf(type: TypeSyntax): JsonSchema | undefined {
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
      return derivedSchema(type);
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

/** The schema as tools have it for the type, of which only objects are known there. */
function derivedSchema(type: TypeSyntax): JsonSchema | undefined {
  const properties = [{ name: 'value', optional: false, type }];
  const { schema } = schemaOfType({ kind: 'object', properties }, 'input');
  if (schema === undefined || !isJsonObject(schema.properties) || !isJsonObject(schema.properties.value))
    return undefined;
  return { ...schema.properties.value, ...(schema.$defs === undefined ? {} : { $defs: schema.$defs }) };
}

function enumOf(values: readonly (string | number | boolean)[]): JsonSchema | undefined {
  const types = [...new Set(values.map((value) => typeof value))];
  const [only] = types;
  return only !== undefined && types.length === 1 ? { type: only, enum: values } : undefined;
}
