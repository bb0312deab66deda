import type { CallSyntax } from '../../verbs.js';
import { readOptionsOf } from '../options.js';
import { boundToNothing, type StepOutcome } from '../outcome.js';
import type { Linker } from './linker.js';

/** `fail(message, { code })`: ends the run, or the scope it is in, as failed. */
export function linkFail(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [text, settings] = args;
  const message = linker.argument(text, callee.place);
  const options = readOptionsOf('fail', settings, linker.scope.report);
  if (message === undefined || options === undefined) return undefined;
  const { code } = options.values;
  // The rule of the option admits nothing else.
  const given = code === undefined ? {} : { code: String(code) };
  return linker.outcome({ kind: 'error', message, ...given }, {}, boundToNothing);
}

/** `done(value)`: ends the run with a value. */
export function linkDone(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const value = linker.argument(args[0], callee.place);
  return value && linker.outcome({ kind: 'return', value }, {}, () => ({ kind: 'end' }));
}
