import type { ts } from 'ts-morph';
import { compareText } from '../emit/order.js';
import type { TypeSyntax } from '../syntax.js';
import { type Literal, rankIn, type WrittenOrder } from './type-order.js';

/** Joins `true | false` to boolean, and puts the members into written order: the compiler's depends on other files. */
export function joinUnion(
  members: readonly (readonly [TypeSyntax, ts.Type])[],
  order: WrittenOrder,
): TypeSyntax {
  const flat = members.flatMap(([member, type]) =>
    member.kind === 'union' ? member.members.map((inner) => ({ member: inner, type })) : [{ member, type }],
  );
  const literals = flat.flatMap(({ member }) => (member.kind === 'literal' ? [member.value] : []));
  const isBoolean = literals.includes(true) && literals.includes(false);
  const kept = [...new Set(literals)].filter((value) => !isBoolean || typeof value !== 'boolean');
  kept.sort((a, b) => rankIn(order.literals, a) - rankIn(order.literals, b) || compareLiterals(a, b));
  const others = flat
    .filter(({ member }) => member.kind !== 'literal')
    .sort(
      (a, b) =>
        rankIn(order.types, a.type) - rankIn(order.types, b.type) ||
        compareText(JSON.stringify(a.member), JSON.stringify(b.member)),
    );
  const joined: TypeSyntax[] = [
    ...others.map(({ member }) => member),
    ...(isBoolean ? [{ kind: 'boolean' } as const] : []),
    ...kept.map((value) => ({ kind: 'literal', value }) as const),
  ];
  joined.sort((a, b) => kindRank(a) - kindRank(b));
  const [only] = joined;
  return only !== undefined && joined.length === 1 ? only : { kind: 'union', members: joined };
}

function compareLiterals(a: Literal, b: Literal): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return compareText(String(a), String(b));
}

const KIND_ORDER: readonly TypeSyntax['kind'][] = [
  'literal',
  'template',
  'string',
  'number',
  'boolean',
  'array',
  'tuple',
  'object',
  'record',
  'recursive',
  'ref',
  'unknown',
  'other',
  'null',
  'undefined',
];

/** The order of unlike members: what is short first, what is missing last. */
function kindRank(type: TypeSyntax): number {
  return KIND_ORDER.indexOf(type.kind);
}
