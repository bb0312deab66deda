import { CancellationScope, type WorkflowInterceptors } from '@temporalio/workflow';
import type { Json } from '../../graph/json.js';
import type { RunArguments } from '../protocol.js';
import { RunInWorkflow } from './run-in-workflow.js';

/*
 * What a worker loads for each workflow: it has the state of one run. All else is loaded once for all of them; see
 * `bundle.ts`.
 *
 * A run outlasts the version that started it: a change of the commands that follow from a history is guarded by `patched`,
 * so that histories of released versions, which tests replay, come to the same commands.
 */

let host: RunInWorkflow | undefined;

/** The workflow that interprets a graph. */
export async function stepwright(run: RunArguments): Promise<Json> {
  const current = new RunInWorkflow(run);
  host = current;
  current.answerUpdates();
  void CancellationScope.nonCancellable(() => current.show());
  // What is undone must not be cancelled with the workflow.
  CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(async () => current.cancel()),
  );
  return CancellationScope.nonCancellable(() => current.end());
}

/**
 * Queries are answered here: a handler of a Query must not return a promise, which the store does. A workflow of a run that a
 * request has cancelled ends as cancelled here: the SDK would have it fail.
 */
export function interceptors(): WorkflowInterceptors {
  return {
    inbound: [
      {
        handleQuery: async ({ queryName, args }) => {
          if (host === undefined) throw new Error('the run has not started');
          return host.look(queryName, args);
        },
      },
    ],
    internals: [
      {
        concludeActivation: ({ commands }, next) =>
          next({
            commands: commands.map((command) =>
              command.failWorkflowExecution && host?.endsCancelled
                ? { cancelWorkflowExecution: {} }
                : command,
            ),
          }),
      },
    ],
  };
}
