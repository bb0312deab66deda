import type { TypeSyntax } from './syntax.js';

/** A type without its `undefined` members. */
export function withoutUndefined(type: TypeSyntax): TypeSyntax {
  if (type.kind !== 'union') return type;
  const members = type.members.filter((member) => member.kind !== 'undefined');
  const [only] = members;
  return only !== undefined && members.length === 1 ? only : { kind: 'union', members };
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
    case 'object': {
      const properties = type.properties.map(
        (p) => `${p.name}${p.optional ? '?' : ''}: ${printType(p.type)}`,
      );
      return properties.length === 0 ? '{}' : `{ ${properties.join('; ')} }`;
    }
    case 'union':
      return type.members.map(printType).join(' | ');
    case 'other':
      return type.text;
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
    case 'undefined':
    case 'unknown':
      return type.kind;
    default:
      return type satisfies never;
  }
}
