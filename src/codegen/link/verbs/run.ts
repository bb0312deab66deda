import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { DictExpr } from '../../../graph/expression/tree.js';
import type { WorkflowDeclaration } from '../../declarations.js';
import type { CallSyntax } from '../../verbs.js';
import { readCallOptions } from '../options.js';
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
  if (workflow === undefined || input === undefined) return undefined;
  const named = withArgumentNames(linker, call, workflow, input);
  if (named === undefined) return undefined;
  const id = options.id ?? scope.id;
  return linker.outcome(
    { kind: 'workflow', workflow: workflow.name, input: named },
    { ...linker.attempts(options), id },
  );
}

/** The input by the names of arguments: authors write the fields. */
function withArgumentNames(
  { scope: { report } }: Linker,
  { args: [, given], callee }: CallSyntax,
  { name: workflow, args }: WorkflowDeclaration,
  input: DictExpr,
): DictExpr | undefined {
  const [renamed] = args.filter(({ name, argument }) => name !== argument);
  if (renamed === undefined) return input;
  if (!input.entries.every((entry) => 'key' in entry)) {
    const { name: field, argument } = renamed;
    report(diagnostic('SW1051', given?.place ?? callee.place, { workflow, argument, field }));
    return undefined;
  }
  const names = new Map(args.map(({ name, argument }) => [name, argument]));
  const entries = input.entries.map((entry) =>
    'key' in entry && typeof entry.key === 'string'
      ? { ...entry, key: names.get(entry.key) ?? entry.key }
      : entry,
  );
  return { ...input, entries };
}
