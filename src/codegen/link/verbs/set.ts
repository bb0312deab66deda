import type { CallSyntax } from '../../verbs.js';
import { boundToProperty, type StepOutcome } from '../outcome.js';
import type { Linker } from './linker.js';
import { standInFor } from './read.js';

/** `set(State, value)`: the value is the one that was written. */
export function linkSet(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [handle, given] = args;
  const state = linker.scope.handles.state(handle, 'set', callee.place);
  const value = linker.argument(given, callee.place);
  if (state === undefined || value === undefined) return undefined;
  const field = state.name;
  const core = { kind: 'set', updates: [{ field, value }] } as const;
  const written = linker.outcome(core, {}, boundToProperty(linker.scope.id, field));
  return { ...written, standIn: standInFor(field) };
}
