import { parseWorkflows } from 'stepwright/formats';
import { createServer, emptyRegistry, type StepwrightServer } from 'stepwright/runtime';
import type { Graph } from '../../../src/graph/model.js';
import type { RunStore } from '../../../src/runtime/runs/run-store.js';
import type { CallPort } from '../../../src/runtime/tools/port.js';
import { runStoreOf, startStored } from '../host.js';
import { cpuTime, inTurns, type Sample, timed } from '../measure.js';
import { type Row, row } from '../row.js';
import type { Sizes } from '../sizes.js';
import { Folder, OpenStore, rawFile, replay, writesOf } from '../store.js';
import { bytesOfEach } from './memory.js';

/** Actions of a run. */
export const ACTIONS = 20;

const COMMAND = { type: 'shell', command: 'true', fail_on_error: true };
const QUESTION = { type: 'prompt', prompt_type: 'confirm', message: 'Go on?' };

/** The work of agents: submissions, next steps, and what an action and a definition take in memory. */
export async function agents(sizes: Sizes): Promise<Row[]> {
  const commands = await lineOf(COMMAND);
  return [
    ...(await submissions(commands, sizes)),
    ...(await storedAnswers(
      {
        name: 'store: result of a command, NORMAL',
        graph: commands,
        answer: { stdout: '', stderr: '', exit_code: 0 },
      },
      sizes,
    )),
    ...(await nextStep(sizes)),
    ...(await memoryRows(commands, sizes)),
  ];
}

async function submissions(commands: Graph, sizes: Sizes): Promise<Row[]> {
  const store = runStoreOf();
  const questions = await lineOf(QUESTION);
  const answers = { command: { stdout: '', stderr: '', exit_code: 0 }, question: { confirmed: true } };
  const { command, question } = await inTurns(
    {
      command: timed(ACTIONS, sizes.goMs, () => drive(store, commands, answers.command)),
      question: timed(ACTIONS, sizes.goMs, () => drive(store, questions, answers.question)),
    },
    sizes,
  );
  const peer = { name: 'a question', value: question };
  const target = { of: 'ratio', atMost: 1.3 } as const;
  return [row({ name: 'store: result of a command, in memory', unit: 'µs', ours: command, peer, target })];
}

/** Answers to the actions of a run in a file. */
interface StoredAnswers {
  readonly name: string;
  /** With {@link ACTIONS} actions, one after the other. */
  readonly graph: Graph;
  readonly answer: object;
  /** What makes its calls. Default: a port without faults. */
  readonly calls?: CallPort;
}

/** Answers in a file, compared with the rows that they write. */
export async function storedAnswers(
  { name, graph, answer, calls }: StoredAnswers,
  sizes: Sizes,
): Promise<Row[]> {
  const folder = new Folder();
  const options = { synchronous: 'normal', ...(calls === undefined ? {} : { calls }) } as const;
  const store = await OpenStore.at(folder.newFile(), options);
  const work = ({ runs }: OpenStore) => drive(runs, graph, answer);
  const writes = await writesOf(folder.newFile(), 'normal', work, calls);
  const raw: Sample = async () => {
    const database = await rawFile(folder.newFile(), 'normal');
    const begin = cpuTime();
    replay(database, writes);
    const spent = cpuTime() - begin;
    database.close();
    return spent / ACTIONS;
  };
  try {
    const cost = await inTurns({ ours: timed(ACTIONS, sizes.goMs, () => work(store)), raw }, sizes);
    const peer = { name: 'SQLite', value: cost.raw };
    return [row({ name, unit: 'µs', ours: cost.ours, peer, target: { of: 'ratio', atMost: 1.5 } })];
  } finally {
    await store.close();
    folder.remove();
  }
}

/** Submits a result for each action of a new run. */
async function drive(runs: RunStore, graph: Graph, answer: object): Promise<void> {
  const started = await startStored(runs, graph);
  if (!started.ok) throw new Error(started.failure.message);
  const id = started.envelope.workflow_id;
  const request = {
    requestId: 'r',
    principal: { kind: 'local' } as const,
    progress() {},
    signal: new AbortController().signal,
  };
  let { envelope } = started;
  while (envelope.action !== undefined) {
    const submission = { actionId: envelope.action.action_id, result: { ...answer } };
    const moved = await runs.submit(request.principal, id, submission, { request, answerMs: 600_000 });
    if (!moved.ok || 'accepted' in moved) throw new Error('the result was refused');
    envelope = moved.envelope;
  }
  if (envelope.status !== 'completed') throw new Error(`the run is ${envelope.status}`);
}

const LOOP = `name: loop
version: "1.0.0"
steps:
  - { id: each, type: foreach, items: "{{ [1] }}", agent: "@task", task: look }
tasks:
  look:
    steps:
      - { id: see, type: shell, command: "true", fail_on_error: true }
`;

/** A next step beside many open runs, compared with one. */
async function nextStep(sizes: Sizes): Promise<Row[]> {
  const [many, one] = [await Served.beside(sizes.waiting), await Served.beside(1)];
  const cost = await inTurns({ many: many.nextStep(sizes), one: one.nextStep(sizes) }, sizes);
  await many.close();
  await one.close();
  const peer = { name: 'beside one', value: cost.one };
  const target = { of: 'ratio', atMost: 1.2 } as const;
  const name = `get_next_step beside ${sizes.waiting} open runs`;
  return [row({ name, unit: 'µs', ours: cost.many, peer, target })];
}

/** A server with a run that a sub-agent works on. */
class Served {
  private constructor(
    private readonly server: StepwrightServer,
    private readonly child: string,
  ) {}

  /** @param count of further runs, which wait for a command. */
  static async beside(count: number): Promise<Served> {
    const workflows = [{ graph: await graphOf(LOOP) }, { graph: await lineOf(COMMAND) }];
    const server = createServer(emptyRegistry, {
      workflows,
      log: () => {},
      runs: { maxOpenRuns: 1_000_000, maxPendingActions: 1_000_000 },
    });
    for (let run = 0; run < count; run += 1) await call(server, 'start_workflow', { name: 'line' });
    const { actions } = (await call(server, 'start_workflow', { name: 'loop' })) as {
      readonly actions: readonly {
        readonly parameters: { readonly children: readonly { readonly workflow_id: string }[] };
      }[];
    };
    return new Served(server, actions[0]?.parameters.children[0]?.workflow_id ?? '');
  }

  nextStep({ goMs }: Sizes): Sample {
    return timed(1, goMs, () => call(this.server, 'get_next_step', { workflow_id: this.child }));
  }

  close(): Promise<void> {
    return this.server.stop();
  }
}

async function call(server: StepwrightServer, name: string, args: Record<string, unknown>): Promise<unknown> {
  const signal = new AbortController().signal;
  const request = { requestId: 'r', local: true, peer: {}, progress() {}, signal };
  const { structuredContent, isError, content } = await server.callTool(name, args, request);
  if (isError === true || structuredContent === undefined) throw new Error(JSON.stringify(content));
  return structuredContent;
}

async function memoryRows(commands: Graph, { waiting }: Sizes): Promise<Row[]> {
  const store = runStoreOf();
  const action = await bytesOfEach(waiting, () => startStored(store, commands));
  const definition = await bytesOfEach(Math.min(waiting, 100), () => lineOf(COMMAND));
  const kB = 'kB' as const;
  return [
    row({
      name: 'memory of a run with an open action',
      unit: kB,
      ours: action / 1_000,
      target: { of: 'ours', atMost: 10 },
    }),
    row({
      name: `memory of a definition of ${ACTIONS} steps`,
      unit: kB,
      ours: definition / 1_000,
      target: { of: 'ours', atMost: 100 },
    }),
  ];
}

function lineOf(step: object): Promise<Graph> {
  const steps = Array.from({ length: ACTIONS }, (_, index) => ({ id: `step-${index}`, ...step }));
  return graphOf(JSON.stringify({ name: 'line', version: '1.0.0', steps }));
}

async function graphOf(text: string): Promise<Graph> {
  const { workflows, diagnostics } = await parseWorkflows(text, { file: 'bench.yaml', format: 'yaml' });
  const [first] = workflows;
  if (first === undefined) throw new Error(JSON.stringify(diagnostics));
  return first.graph;
}
