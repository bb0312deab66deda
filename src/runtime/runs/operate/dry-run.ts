import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { Graph, Input } from '../../../graph/model.js';
import { type ToolSafety, toolSafetyOf } from '../../../graph/tool-safety.js';
import { planOf } from '../../../plan/compile.js';
import type { Failure } from '../../engine/contract.js';
import { maskedFailure } from '../../secrets/mask.js';
import { RunMask } from '../../secrets/run-mask.js';
import { encodedLog } from '../../tools/log.js';
import type { CallPort } from '../../tools/port.js';
import type { Registry } from '../../tools/registry.js';
import { evaluateFunction } from '../../tools/toolset.js';
import { readAnswer } from '../actions/read-answer.js';
import type { Ask } from '../run/calls-in-flight.js';
import { SkippingClock } from '../run/clock.js';
import { LiveRun } from '../run/live-run.js';
import { observeFacts } from '../run/run-host.js';
import { DryRunSteps } from './dry-run-steps.js';
import { StubPort, StubQueue, type StubResults, sampleAnswer, stubNames } from './stub-port.js';

interface ArgumentProblem {
  readonly argument: string;
  /** One sentence. */
  readonly message: string;
}

/** Reads arguments as a server reads those of a prompt. */
type ReadArguments = (
  inputs: readonly Input[],
  given: Readonly<Record<string, string>>,
  schemas: SchemaCompiler,
) =>
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly problems: readonly ArgumentProblem[] };

/** A run in which no tool is called. */
interface DryRunRequest {
  readonly registry: Registry;
  /** With the workflows that it runs. */
  readonly graph: Graph;
  /** The arguments as texts, as a prompt takes them. */
  readonly given: Readonly<Record<string, string>>;
  readonly stubs: StubResults;
  readonly readArguments: ReadArguments;
}

/** The path of a run with stubs. Plain JSON; secrets are masked. */
export interface DryRunReport {
  readonly workflow: string;
  readonly status: 'succeeded' | 'failed' | 'cancelled';
  readonly result?: Json;
  readonly failure?: Failure;
  /** What happened, in order. */
  readonly path: DryRunSteps['path'];
}

type DryRunOutcome =
  | { readonly kind: 'report'; readonly report: DryRunReport }
  /** The run was not started. */
  | { readonly kind: 'refused'; readonly problems: readonly ArgumentProblem[] }
  /** The stub of a question does not answer it. */
  | {
      readonly kind: 'unfit';
      readonly step: string;
      readonly names: readonly string[];
      readonly problem: string;
    };

/**
 * Runs a workflow on stubs, by the engine that runs it otherwise. No tool, middleware, upstream server or store is
 * reached, and no resource is read; pure functions are evaluated. Times pass at once, and questions are answered by
 * stubs. A workflow that ends in a failure is a report.
 */
export async function dryRun({
  registry,
  graph,
  given,
  stubs: results,
  readArguments,
}: DryRunRequest): Promise<DryRunOutcome> {
  const schemas = new SchemaCompiler();
  const reading = readArguments(graph.inputs, given, schemas);
  if (!reading.ok) return { kind: 'refused', problems: reading.problems };
  const { input } = reading;
  const secretInputs = (tool: string) => ownProperty(registry.tools, tool)?.secret ?? [];
  const mask = new RunMask(graph, { input, argumentTexts: Object.entries(given), secretInputs });
  return new StubbedPath({ graph, input, mask, schemas }, { registry, secretInputs, results }).outcome;
}

interface PathRun {
  readonly graph: Graph;
  readonly input: JsonObject;
  readonly mask: RunMask;
  readonly schemas: SchemaCompiler;
}

interface PathStubs {
  readonly registry: Registry;
  readonly secretInputs: (tool: string) => readonly string[];
  readonly results: StubResults;
}

/** A run in this process that waits for nothing. */
class StubbedPath {
  readonly outcome: Promise<DryRunOutcome>;
  readonly #pathRun: PathRun;
  readonly #clock = new SkippingClock();
  readonly #queue: StubQueue;
  readonly #steps: DryRunSteps;
  readonly #port: StubPort;
  readonly #run: LiveRun;
  #resolve: (outcome: DryRunOutcome) => void = () => {};
  #isLooking = false;

  constructor(run: PathRun, { registry, secretInputs, results }: PathStubs) {
    const { graph, input, mask } = run;
    this.#pathRun = run;
    this.#queue = new StubQueue(results);
    this.#steps = new DryRunSteps(planOf(graph), mask, this.#clock);
    const toolset = {
      secretInputs,
      evaluate: (...[reference, args, call]: Parameters<CallPort['evaluate']>) =>
        evaluateFunction(registry, reference, args, call, encodedLog(undefined)),
    };
    const toolSafety = (tool: string): ToolSafety => {
      const entry = ownProperty(registry.tools, tool);
      return entry === undefined ? 'none' : toolSafetyOf(entry);
    };
    this.#port = new StubPort(
      graph,
      { results, tools: registry.tools, resources: registry.resources, toolset },
      { mask, queue: this.#queue, called: (call) => this.#steps.called(call) },
    );
    const context = {
      requestId: 'dry-run',
      principal: { kind: 'local' as const },
      progress: () => {},
    };
    let reject: (fault: unknown) => void = () => {};
    this.outcome = new Promise((resolve, fail) => {
      this.#resolve = resolve;
      reject = fail;
    });
    const host = { calls: this.#port, clock: this.#clock, toolSafety };
    this.#run = new LiveRun({ graph, input, runId: 'dry-run', context, mask }, host, (event) => {
      if (event.kind === 'idle') this.#lookLater();
      if (event.kind === 'failed') reject(event.fault);
      if (event.kind === 'facts') observeFacts(event, (fact, state) => this.#steps.observe(fact, state));
    });
    this.#run.go();
  }

  /** Stubs answer within the turn of the event loop. */
  #lookLater(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(() => {
      this.#isLooking = false;
      this.#look();
    });
  }

  #look(): void {
    if (this.#run.liveStatus === 'over') {
      this.#resolve({ kind: 'report', report: this.#report() });
      return;
    }
    // A function calls back when it returns.
    if (this.#port.inFlight > 0) return;
    const [ask] = this.#run.asks.values();
    if (ask !== undefined) this.#answer(ask);
    else if (!this.#clock.skip()) throw new Error('the run waits for nothing that can come');
    // A limit that is not wanted any more changes nothing of the run: the next time comes after it.
    else this.#lookLater();
  }

  #answer({ id, node, action }: Ask): void {
    const names = stubNames(node);
    const given = this.#queue.next(names);
    const source = given === undefined ? 'schema' : 'given';
    const stub = given ?? { value: sampleAnswer(action) };
    if ('failure' in stub) {
      this.#steps.answered(node, { failure: stub.failure }, source);
      this.#run.refuse(id, stub.failure);
      return;
    }
    const reading = readAnswer(action, { result: stub.value }, this.#pathRun.schemas);
    if (!reading.ok || reading.answer.kind === 'failure') {
      this.#run.leave();
      const problem = reading.ok ? '' : reading.failure.message;
      this.#resolve({ kind: 'unfit', step: node, names, problem });
      return;
    }
    this.#steps.answered(node, { value: reading.answer.value }, source);
    this.#run.answer(id, reading.answer.value);
  }

  #report(): DryRunReport {
    const { graph, mask } = this.#pathRun;
    const { status, result, failure, endedBy } = this.#run.state.run;
    return {
      workflow: graph.name,
      status: status === 'succeeded' || status === 'cancelled' ? status : 'failed',
      ...(result === undefined ? {} : { result: mask.result(result, endedBy) }),
      ...(failure === undefined ? {} : { failure: maskedFailure(failure, mask) }),
      path: this.#steps.path,
    };
  }
}
