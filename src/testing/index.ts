import type { ToolContext } from '../decorators/context.js';
import { CallMask } from '../runtime/secrets/call-mask.js';
import { toolContextOf } from '../runtime/tools/tool-context.js';

export { expectRun, type MatcherResult, matchers, type RunMatchers } from './matchers.js';
export { projectRegistry } from './project-registry.js';
export type { Crash, ScriptedAnswer, ScriptedRun, TestedCall, TestedRun, TestedWait } from './tested-run.js';
export {
  type DoubleAnswer,
  double,
  doublesOf,
  type UpstreamDouble,
  upstreamCassette,
  upstreamDoubles,
} from './upstream.js';
export type { OtherTools, ToolStubs } from './workflow-test.js';
export { stopRuns, testWorkflow, type WorkflowTestOptions } from './workflow-test.js';

/**
 * A context for the test of a tool: the call is not cancelled, progress and logs go nowhere, and there is no client, so
 * that `elicit`, `sample` and `roots` fail with `E_CLIENT_UNSUPPORTED`.
 *
 * @param members what the test needs otherwise.
 * @example
 * ```ts
 * const answer = { action: 'accept', content: { seats: 2 } };
 * await new Book().execute({ city: 'Rome' }, toolContext({ elicit: async () => answer }));
 * ```
 */
export function toolContext(members: Partial<ToolContext> = {}): ToolContext {
  const { signal } = new AbortController();
  const context = toolContextOf({ signal, requestId: 'test', progress: () => {} }, () => new CallMask());
  return { ...context, ...members };
}
