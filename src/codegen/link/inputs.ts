import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Json, JsonSchema } from '../../graph/json.js';
import { isJsonObject } from '../../graph/json.js';
import type { Input } from '../../graph/model.js';
import type { ArgDeclaration } from '../declarations.js';
import type { TypeSyntax } from '../syntax.js';
import { printType } from '../type-syntax.js';

/** An argument as an input of the graph; nothing where its type has no schema, which is reported. */
export function linkInput(arg: ArgDeclaration, report: (diagnostic: Diagnostic) => void): Input | undefined {
  const { name, place, options } = arg;
  const schema = schemaOf(arg.type);
  if (schema === undefined) {
    report(diagnostic('SW1017', place, { argument: name, type: printType(arg.type) }));
    return undefined;
  }
  const fallback = options.default as Json | undefined;
  if (fallback !== undefined && !fits(fallback, arg.type)) {
    const expected = `of the argument's type, \`${printType(arg.type)}\``;
    const at = arg.optionSyntax.default?.place ?? place;
    report(diagnostic('SW1012', at, { decorator: 'Arg', option: 'default', expected }));
    return undefined;
  }
  const { title, description, secret } = options;
  return {
    name,
    ...(typeof title === 'string' ? { title } : {}),
    description: typeof description === 'string' ? description : '',
    schema,
    required: !arg.optional && fallback === undefined,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(secret === true ? { secret } : {}),
    source: place,
  };
}

/**
 * The JSON Schema of an argument's type: text, numbers, booleans, unions of literals, arrays and objects of these.
 * Other unions have none: a prompt's arguments come as text, and no rule says which member a text means.
 */
export function schemaOf(type: TypeSyntax): JsonSchema | undefined {
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'boolean':
      return { type: type.kind };
    case 'literal':
      return enumOf([type.value]);
    case 'array': {
      const items = schemaOf(type.items);
      return items === undefined ? undefined : { type: 'array', items };
    }
    case 'object':
      return objectSchema(type);
    case 'union': {
      const values = type.members.map((member) => (member.kind === 'literal' ? member.value : undefined));
      return values.every((value) => value !== undefined) ? enumOf(values) : undefined;
    }
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

function objectSchema({ properties }: Extract<TypeSyntax, { kind: 'object' }>): JsonSchema | undefined {
  const schemas: [string, JsonSchema][] = [];
  for (const { name, type } of properties) {
    const schema = schemaOf(type);
    if (schema === undefined) return undefined;
    schemas.push([name, schema]);
  }
  const required = properties.filter(({ optional }) => !optional).map(({ name }) => name);
  return { type: 'object', properties: Object.fromEntries(schemas), required, additionalProperties: false };
}

/** Whether a default is a value of the type. */
function fits(value: Json, type: TypeSyntax): boolean {
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type.kind;
    case 'literal':
      return value === type.value;
    case 'union':
      return type.members.some((member) => fits(value, member));
    case 'array':
      return Array.isArray(value) && value.every((item) => fits(item, type.items));
    case 'object': {
      if (!isJsonObject(value)) return false;
      const known = new Set(type.properties.map(({ name }) => name));
      const hasAll = type.properties.every(({ name, optional, type: inner }) => {
        const item = Object.hasOwn(value, name) ? value[name] : undefined;
        return item === undefined ? optional : fits(item, inner);
      });
      return hasAll && Object.keys(value).every((key) => known.has(key));
    }
    case 'null':
    case 'undefined':
    case 'unknown':
    case 'other':
      return false;
    default:
      return type satisfies never;
  }
}
