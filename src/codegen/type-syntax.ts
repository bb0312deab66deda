import type { PropertySyntax, TypeNotes, TypeSyntax, UnresolvedType } from './syntax.js';

/** A type without its `undefined` members. */
export function withoutUndefined(type: TypeSyntax): TypeSyntax {
  if (type.kind !== 'union') return type;
  const members = type.members.filter((member) => member.kind !== 'undefined');
  if (members.length === type.members.length) return type;
  const [only] = members;
  return only !== undefined && members.length === 1
    ? withNotes(only, type.notes)
    : { ...type, kind: 'union', members };
}

/** A type with notes laid over its own: what they say wins, the rest stays. */
export function withNotes(type: TypeSyntax, notes: TypeNotes | undefined): TypeSyntax {
  if (notes === undefined) return type;
  const said = new Set(notes.tags.map(({ name }) => name));
  const description = notes.description ?? type.notes?.description;
  const tags = [...notes.tags, ...(type.notes?.tags ?? []).filter(({ name }) => !said.has(name))];
  return { ...type, notes: { ...(description === undefined ? {} : { description }), tags } };
}

/** A type as an author would write it, on one line. */
export function printType(type: TypeSyntax): string {
  switch (type.kind) {
    case 'literal':
      return JSON.stringify(type.value);
    case 'array': {
      const items = printType(type.items);
      return type.items.kind === 'union' ? `(${items})[]` : `${items}[]`;
    }
    case 'tuple': {
      const items = type.items.map((item, i) => `${printType(item)}${i < type.required ? '' : '?'}`);
      const rest = type.rest === undefined ? [] : [`...${printType({ kind: 'array', items: type.rest })}`];
      return `[${[...items, ...rest].join(', ')}]`;
    }
    case 'object':
      return type.properties.length === 0 ? '{}' : `{ ${type.properties.map(printProperty).join('; ')} }`;
    case 'record': {
      const values = printType(type.values);
      if (type.properties.length === 0) return `Record<${type.keys}, ${values}>`;
      return `{ ${[...type.properties.map(printProperty), `[key: ${type.keys}]: ${values}`].join('; ')} }`;
    }
    case 'union':
      return type.members.map(printType).join(' | ');
    case 'recursive':
      return printType(type.type);
    case 'ref':
      return type.name;
    case 'other':
    case 'template':
      return type.text;
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'undefined':
      return type.kind;
    case 'unknown':
      return type.written ?? type.kind;
    default:
      return type satisfies never;
  }
}

function printProperty({ name, optional, type }: PropertySyntax): string {
  return `${name}${optional ? '?' : ''}: ${printType(type)}`;
}

/** The first name in a type that leads nowhere: nothing else that is said of the type would be certain. */
export function unresolvedType(type: TypeSyntax): UnresolvedType | undefined {
  switch (type.kind) {
    case 'unknown':
      return type.unresolved;
    case 'array':
      return unresolvedType(type.items);
    case 'tuple':
      return firstUnresolved([...type.items, ...(type.rest === undefined ? [] : [type.rest])]);
    case 'object':
      return firstUnresolved(type.properties.map((property) => property.type));
    case 'record':
      return firstUnresolved([...type.properties.map((property) => property.type), type.values]);
    case 'union':
      return firstUnresolved(type.members);
    case 'recursive':
      return unresolvedType(type.type);
    default:
      return undefined;
  }
}

function firstUnresolved(types: readonly TypeSyntax[]): UnresolvedType | undefined {
  for (const type of types) {
    const found = unresolvedType(type);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Why a name leads nowhere, as the end of a sentence. */
export function whyUnresolved({ specifier, isModuleKnown }: UnresolvedType): string {
  if (specifier === undefined) return 'it is not declared';
  return isModuleKnown
    ? `\`${specifier}\` does not export it`
    : `its import from \`${specifier}\` cannot be resolved, or has no types`;
}
