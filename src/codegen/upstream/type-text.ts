import {
  isJsonObject,
  type Json,
  type JsonObject,
  type JsonSchema,
  referredValue,
} from '../../graph/json.js';
import { printString } from '../emit/literals.js';

/**
 * The TypeScript type of the values of a JSON Schema, as text. It may be wider than the schema: keywords that only
 * narrow a value have no form in TypeScript. A recursive reference is `unknown`.
 *
 * @param indent spaces before the lines of an object.
 */
export function typeText(schema: JsonSchema, indent = 0): string {
  return new TypePrinter(schema).print(schema, indent, []);
}

class TypePrinter {
  constructor(readonly root: JsonSchema) {}

  /** @param followed the references that lead here. */
  print(schema: Json | undefined, indent: number, followed: readonly string[]): string {
    if (schema === false) return 'never';
    if (!isJsonObject(schema)) return 'unknown';
    const { $ref, allOf } = schema;
    if (typeof $ref === 'string') {
      const target = followed.includes($ref) ? undefined : referredValue($ref, this.root);
      return this.print(target, indent, [...followed, $ref]);
    }
    if (schema.const !== undefined) return literal(schema.const);
    if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(alternatives) && schema.properties === undefined)
      return union(alternatives.map((each: Json) => this.print(each, indent, followed)));
    if (Array.isArray(allOf) && schema.properties === undefined)
      return intersection(allOf.map((each: Json) => this.print(each, indent, followed)));
    if (Array.isArray(schema.type))
      return union(schema.type.map((type) => this.#ofType(String(type), schema, indent, followed)));
    const type = schema.type ?? (schema.properties === undefined ? undefined : 'object');
    return this.#ofType(type, schema, indent, followed);
  }

  #ofType(type: Json | undefined, schema: JsonObject, indent: number, followed: readonly string[]): string {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
      case 'number':
        return type;
      case 'integer':
        return 'number';
      case 'array':
        return this.#list(schema, indent, followed);
      case 'object':
        return this.#object(schema, indent, followed);
      default:
        return 'unknown';
    }
  }

  #list({ prefixItems, items }: JsonObject, indent: number, followed: readonly string[]): string {
    if (Array.isArray(prefixItems)) {
      const parts = prefixItems.map((item: Json) => this.print(item, indent, followed));
      const rest = items === false ? [] : [`...${inList(this.print(items, indent, followed))}[]`];
      return `readonly [${[...parts, ...rest].join(', ')}]`;
    }
    return `readonly ${inList(this.print(items, indent, followed))}[]`;
  }

  #object(schema: JsonObject, indent: number, followed: readonly string[]): string {
    const { properties, additionalProperties, required } = schema;
    const entries = isJsonObject(properties) ? Object.entries(properties) : [];
    if (entries.length === 0) {
      if (additionalProperties === false) return 'Record<never, never>';
      return `{ readonly [key: string]: ${this.print(additionalProperties, indent, followed)} }`;
    }
    const names = Array.isArray(required) ? required : [];
    const pad = ' '.repeat(indent + 2);
    const lines = entries.flatMap(([name, member]) => {
      const sign = names.includes(name) && !hasDefault(member) ? '' : '?';
      const type = this.print(member, indent + 2, followed);
      return [...docLines(member, pad), `${pad}readonly ${propertyName(name)}${sign}: ${type};`];
    });
    return `{\n${lines.join('\n')}\n${' '.repeat(indent)}}`;
  }
}

/** A comment of one line; nothing for a text that is empty. */
export function docComment(text: Json | undefined): string | undefined {
  if (typeof text !== 'string') return undefined;
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('*/', '*\\/').trim();
  return line === '' ? undefined : `/** ${line} */`;
}

function docLines(schema: Json, pad: string): readonly string[] {
  const comment = isJsonObject(schema) ? docComment(schema.description) : undefined;
  return comment === undefined ? [] : [`${pad}${comment}`];
}

const hasDefault = (schema: Json): boolean => isJsonObject(schema) && schema.default !== undefined;

/** The name as a property is declared: in quotes where it has to be. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : printString(name);
}

function literal(value: Json): string {
  if (typeof value === 'string') return printString(value);
  return value === null || typeof value !== 'object' ? String(value) : 'unknown';
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.includes('unknown')) return 'unknown';
  const values = distinct.filter((type) => type !== 'never');
  return values.length === 0 ? 'never' : values.join(' | ');
}

function intersection(types: readonly string[]): string {
  const cached = [...new Set(types)].filter((type) => type !== 'unknown');
  return cached.length === 0
    ? 'unknown'
    : cached.map((type) => (type.includes(' | ') ? `(${type})` : type)).join(' & ');
}

/** `readonly` and unions bind less than `[]`. */
function inList(type: string): string {
  return /^[\w.]+$|^\{[\s\S]*\}$/.test(type) && !type.includes(' | ') ? type : `(${type})`;
}
