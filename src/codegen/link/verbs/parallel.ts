import type { ParallelNode } from '../../../graph/model.js';
import type { CallSyntax } from '../../verbs.js';
import { readOptionsOf } from '../options.js';
import type { NodeCore, StepOutcome } from '../outcome.js';
import { type Linker, readArms, refuse } from './linker.js';

const EXAMPLE = 'parallel({ first: call(…), second: call(…) })';

/** `parallel(branches, options)`. */
export function linkParallel(linker: Linker, { args, callee }: CallSyntax): StepOutcome | undefined {
  const [given, settings] = args;
  const read = readArms(linker, given, callee.place, 'the branches', EXAMPLE);
  const options = readOptionsOf('parallel', settings, linker.scope.report);
  if (read === undefined) return undefined;
  if (read.entries.length === 0 && read.isWhole)
    return refuse(linker, (given ?? callee).place, 'a `parallel` without branches', `write \`${EXAMPLE}\``);
  const branches = read.entries.map(({ key, value }) => {
    const body = linker.body(value, key);
    return body && { id: key, body };
  });
  if (options === undefined || !read.isWhole || !branches.every((branch) => branch !== undefined))
    return undefined;
  const { concurrency, onPartialFailure = 'abort' } = options.values;
  const core: NodeCore = {
    kind: 'parallel',
    branches,
    // The rules of the options admit nothing else.
    ...(typeof concurrency === 'number' ? { concurrency } : {}),
    onPartialFailure: onPartialFailure as ParallelNode['onPartialFailure'],
  };
  return linker.outcome(core, linker.attempts());
}
