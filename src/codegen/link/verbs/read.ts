import type { Expr } from '../../../graph/expression/tree.js';
import type { CallSyntax } from '../../verbs.js';
import { lowerExpression } from '../expressions.js';
import { boundToProperty, type NodeCore, type StepOutcome } from '../outcome.js';
import { lowerAddress } from '../uris.js';
import type { Linker } from './linker.js';

/** `read(Resource, variables)`: the value is its text. */
export function linkRead(linker: Linker, call: CallSyntax): StepOutcome | undefined {
  const core = readCore(linker, call);
  if (core === undefined) return undefined;
  const read = linker.outcome(core, linker.attempts(), boundToProperty(linker.scope.id, 'text'));
  return { ...read, standIn: standInFor('text') };
}

/** What makes a node a read. */
export function readCore(
  { scope, values }: Pick<Linker, 'scope' | 'values'>,
  call: CallSyntax,
): Extract<NodeCore, { kind: 'resource' }> | undefined {
  const addressed = lowerAddress(call, 'read', scope, (part) => lowerExpression(part, values));
  return addressed && { kind: 'resource', resource: addressed.resource.name, uri: addressed.uri };
}

/** What a value that stands in for one property of a node's value is to the node. */
export function standInFor(key: string): (value: Expr) => Expr {
  return (value) => {
    const at = value.at === undefined ? {} : { at: value.at };
    return { kind: 'dict', ...at, entries: [{ key, value }] };
  };
}
