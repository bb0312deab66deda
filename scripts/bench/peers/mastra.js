import { createStep, createWorkflow } from '@mastra/core/workflows';
import { z } from 'zod';

export const name = 'Mastra';

const counter = z.object({ n: z.number() });

/** A step for each call. */
export function lineWorkflow(count) {
  let workflow = createWorkflow({ id: 'line', inputSchema: counter, outputSchema: counter });
  for (let place = 0; place < count; place += 1) {
    const step = createStep({
      id: `s${place}`,
      inputSchema: counter,
      outputSchema: counter,
      execute: async ({ inputData }) => ({ n: inputData.n + 1 }),
    });
    workflow = workflow.then(step);
  }
  return workflow.commit();
}

/** Without a storage. */
export function line(count) {
  return runnerOf(lineWorkflow(count), { n: 0 }, ({ n }) => n);
}

/** A `foreach` of one step. */
export function loop(concurrency) {
  const list = z.array(z.number());
  const one = createStep({
    id: 'one',
    inputSchema: z.number(),
    outputSchema: z.number(),
    execute: async ({ inputData }) => inputData + 1,
  });
  const workflow = createWorkflow({ id: 'loop', inputSchema: list, outputSchema: list })
    .foreach(one, { concurrency })
    .commit();
  return runnerOf(workflow, [], (results) => results);
}

/** A function that runs a workflow once. */
export function runnerOf(workflow, otherwise, resultOf) {
  return async (inputData = otherwise) => {
    const run = await workflow.createRunAsync();
    const outcome = await run.start({ inputData });
    if (outcome.status !== 'success') throw new Error(`the run is ${outcome.status}`);
    return resultOf(outcome.result);
  };
}
