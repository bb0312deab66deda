import type { CallSyntax } from '../../verbs.js';
import { boundToNothing, type StepOutcome } from '../outcome.js';
import type { Linker } from './linker.js';

/** `fail(message)`: ends the run, or what it stands in, as failed. */
export function linkFail(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const message = linker.argument(args[0], callee.place);
  return message && linker.outcome({ kind: 'error', message }, {}, boundToNothing);
}

/** `done(value)`: ends the run with a value. */
export function linkDone(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const value = linker.argument(args[0], callee.place);
  return value && linker.outcome({ kind: 'return', value }, {}, () => ({ kind: 'end' }));
}
