import type { CallSyntax } from '../../verbs.js';
import { readCallOptions } from '../call-options.js';
import type { StepOutcome } from '../outcome.js';
import { inputOf, isGivenTwice } from './call.js';
import type { Linker } from './linker.js';

/** `run(Workflow, args, options)`. */
export function linkRun(linker: Linker, call: CallSyntax): StepOutcome | undefined {
  const [handle, , given] = call.args;
  const { scope } = linker;
  const workflow = scope.handles.workflow(handle, 'run', call.callee.place);
  const options = readCallOptions('run', given, scope.report);
  const input = inputOf(linker, call);
  if (options === undefined || isGivenTwice(linker, 'run', options)) return undefined;
  if (workflow === undefined || input?.kind !== 'dict') return undefined;
  const id = options.id ?? scope.id;
  return linker.outcome(
    { kind: 'workflow', workflow: workflow.name, input },
    { ...linker.attempts(options), id },
  );
}
