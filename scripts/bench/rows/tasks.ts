import { createServer } from 'stepwright/runtime';
import { registry } from '../../../examples/greeting/generated/greeting.registry.js';
import { failingLine } from '../graphs.js';
import { portOf } from '../host.js';
import { inTurns, timed } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import { Folder } from '../store.js';
import { greetingRequest, greetings } from '../wire/greetings.js';
import { ACTIONS, storedAnswers } from './agents.js';
import { Served } from './open-runs.js';

/** Prompts that leave a task behind, results of steps that were made outside, and requests about tasks. */
export async function tasks(sizes: Sizes): Promise<Row[]> {
  return [
    ...(await bridge(sizes)),
    ...(await continuingCalls(sizes)),
    ...(await continuations(sizes)),
    ...(await besideTasks(sizes)),
  ];
}

/** A prompt of a workflow with tasks, compared with the same one without. */
async function bridge(sizes: Sizes): Promise<Row[]> {
  const [steps] = sizes.prompt;
  const plain = greetings(steps);
  const ask = greetingRequest(steps);
  const promptOf = (workflow: typeof plain) => {
    const server = createServer(registry, { store: 'memory', workflows: [workflow.build()] });
    const signal = new AbortController().signal;
    const request = { signal, requestId: '1', progress() {}, local: true };
    return () => server.getPrompt(ask.name, ask.arguments, request);
  };
  const cost = await inTurns(
    {
      task: timed(1, sizes.goMs, promptOf(plain.withTaskSupport())),
      plain: timed(1, sizes.goMs, promptOf(plain)),
    },
    { ...sizes, warmUpMs: sizes.warmUpMs * 3 },
  );
  const peer = { name: 'without a task', value: cost.plain };
  const name = `tasks: prompt of ${steps} steps, in memory`;
  return [row({ name, unit: 'µs', ours: cost.task, peer, target: { of: 'ratio', atMost: 1.3 } })];
}

/** Calls of a tool that continue a task, each of which completes the step that lacks an argument, compared with plain ones. */
async function continuingCalls(sizes: Sizes): Promise<Row[]> {
  const { graph } = greetings(ACTIONS).withTaskSupport().build();
  const inputs = graph.inputs.map((input) => ({ ...input, required: false }));
  const server = createServer(registry, { store: 'memory', workflows: [{ graph: { ...graph, inputs } }] });
  const signal = new AbortController().signal;
  let id = 0;
  const request = () => ({ signal, requestId: String(id++), progress() {}, local: true });
  const calls = async (areRecorded: boolean) => {
    const prompt = await server.getPrompt(graph.name, {}, request());
    const task = '_meta' in prompt ? String(prompt._meta?.task_id) : '';
    const how = areRecorded ? { continues: { task } } : {};
    let status: unknown;
    for (let call = 0; call < ACTIONS; call += 1) {
      const { _meta } = await server.callTool('greet', { name: 'Ada' }, { ...request(), ...how });
      status = _meta?.task_status;
    }
    if (areRecorded && status !== 'completed') throw new Error(`the task is ${String(status)}`);
    if (!areRecorded) await server.tasks.cancel(task, request());
  };
  const cost = await inTurns(
    {
      recorded: timed(ACTIONS, sizes.goMs, () => calls(true)),
      plain: timed(ACTIONS, sizes.goMs, () => calls(false)),
    },
    { ...sizes, warmUpMs: sizes.warmUpMs * 3 },
  );
  const peer = { name: 'plain calls', value: cost.plain };
  const name = `tasks: call that continues a task of ${ACTIONS} steps, in memory`;
  return [row({ name, unit: 'µs', ours: cost.recorded, peer })];
}

/** Results for the steps of a task, each of which has failed. */
function continuations(sizes: Sizes): Promise<Row[]> {
  const calls = portOf(async () => ({
    ok: false,
    attempted: true,
    failure: { code: 'E_TOOL_ERROR', message: 'it is away' },
  }));
  const name = 'tasks: result of a step, NORMAL';
  return storedAnswers({ name, graph: failingLine(ACTIONS), answer: { n: 1 }, calls }, sizes);
}

/** The state of a task over HTTP beside many open ones, compared with one. */
async function besideTasks(sizes: Sizes): Promise<Row[]> {
  const folder = new Folder();
  try {
    const count = sizes.waiting;
    const [many, one] = [
      await Served.beside(folder.newFile(), count),
      await Served.beside(folder.newFile(), 0),
    ];
    const cost = await inTurns({ many: await many.task(sizes), one: await one.task(sizes) }, sizes);
    await Promise.all([many.close(), one.close()]);
    const peer = { name: 'beside one', value: cost.one };
    const name = `tasks: tasks/get beside ${count} open tasks`;
    return [row({ name, unit: 'µs', ours: cost.many, peer, target: { of: 'ratio', atMost: 1.2 } })];
  } finally {
    folder.remove();
  }
}
