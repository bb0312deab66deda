import { SchemaCompiler } from '../../../formats/json-schema/schema-compiler.js';
import { defined } from '../../../graph/defined.js';
import { type Json, type JsonObject, ownProperty } from '../../../graph/json.js';
import type { NodeKind } from '../../../graph/kinds/node.js';
import type { Graph, Input } from '../../../graph/model.js';
import { type ToolSafety, toolSafetyOf } from '../../../graph/tool-safety.js';
import { planOf } from '../../../plan/compile.js';
import { Instances, type NodeInstance } from '../../../plan/instances.js';
import type { Plan } from '../../../plan/plan.js';
import { describeNode } from '../../../print/describe.js';
import { printExpr } from '../../../print/expression.js';
import { textOf } from '../../engine/actions.js';
import type { ActionRequest, Fact, Failure, RunState } from '../../engine/contract.js';
import type { NodeStatus, SkipReason } from '../../engine/events.js';
import { outputOf } from '../../engine/read.js';
import { maskedFailure } from '../../secrets/mask.js';
import { RunMask } from '../../secrets/run-mask.js';
import { encodedLog } from '../../tools/log.js';
import type { CallPort } from '../../tools/port.js';
import type { Registry } from '../../tools/registry.js';
import { evaluateFunction } from '../../tools/toolset.js';
import { readAnswer } from '../actions/decision.js';
import { type Clock, SkippingClock } from '../run/clock.js';
import { LiveRun } from '../run/live-run.js';
import { observeFacts } from '../run/run-host.js';
import { type StubbedCall, StubPort, StubQueue, type Stubs, sampleAnswer, stubNames } from './stubs.js';

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
  readonly stubs: Stubs['results'];
  readonly readArguments: ReadArguments;
}

/** The path of a run with stubs. Plain JSON; secrets are masked. */
interface DryRunReport {
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
  readonly results: Stubs['results'];
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
      { mask, queue: this.#queue, onCall: (call) => this.#steps.called(call) },
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

  #answer({ id, node, action }: ActionRequest): void {
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

/** The nodes that a join waits for, as they were when it was decided. */
interface DryJoin {
  readonly rule: string;
  readonly of: readonly { readonly step_id: string; readonly status: NodeStatus }[];
}

/** What happens in a dry run. */
type DryEvent =
  | {
      readonly event: 'started';
      readonly kind: NodeKind;
      readonly does: string;
      readonly condition?: string;
      readonly join?: DryJoin;
    }
  | {
      readonly event: 'call';
      readonly tool: string;
      readonly input: JsonObject;
      /** Counts from 1. */
      readonly attempt: number;
      readonly compensates?: true;
      readonly result?: Json;
      readonly failure?: Failure;
      readonly stub?: NonNullable<StubbedCall['stub']>;
    }
  | { readonly event: 'read'; readonly resource: string; readonly uri: string; readonly failure?: Failure }
  | {
      readonly event: 'retry';
      readonly attempts: number;
      readonly attempt: number;
      readonly delay_ms: number;
    }
  | { readonly event: 'arm'; readonly arm: string; readonly condition?: string; readonly goto?: string }
  | { readonly event: 'part'; readonly arm?: string; readonly index?: number; readonly count: number }
  | { readonly event: 'asked'; readonly message: string }
  | {
      readonly event: 'answered';
      readonly answer?: Json;
      readonly failure?: Failure;
      readonly stub: NonNullable<StubbedCall['stub']>;
    }
  | { readonly event: 'waits'; readonly wait_ms: number }
  | { readonly event: 'jump'; readonly target: string; readonly visit: number; readonly max: number }
  | { readonly event: 'set'; readonly field: string; readonly value?: Json }
  | { readonly event: 'undoing' }
  | { readonly event: 'nothing_to_undo'; readonly tool: string }
  | { readonly event: 'succeeded'; readonly value?: Json }
  | {
      readonly event: 'handled';
      readonly failure: Failure;
      readonly value?: Json;
      readonly fallback?: string;
    }
  | { readonly event: 'failed'; readonly failure: Failure }
  | {
      readonly event: 'skipped';
      readonly reason: SkipReason;
      readonly condition?: string;
      readonly join?: DryJoin;
    }
  | { readonly event: 'cancelled' };

/** What happens to a step of a dry run. `step_id` is missing for what happens to the run. */
type DryStep = {
  readonly step_id?: string;
  /** How many steps it is in. */
  readonly depth: number;
  /** The step that it is in. */
  readonly in?: DryPart;
} & DryEvent;

/** A step with steps in it, with the name of the branch or arm, or the index of the item. */
interface DryPart {
  readonly step_id: string;
  readonly arm?: string;
  readonly index?: number;
}

type Issued = Extract<Fact, { kind: 'callIssued' }>;

/** Collects what happens in a run, as it may be shown. */
class DryRunSteps {
  readonly path: DryStep[] = [];
  readonly #instances: Instances;
  readonly #mask: RunMask;
  readonly #clock: Clock;
  readonly #statuses = new Map<string, NodeStatus>();
  /** Calls that were issued and have not returned. */
  readonly #issued: Issued[] = [];
  readonly #reads = new Map<string, Extract<Fact, { kind: 'resourceRequested' }>>();

  constructor(plan: Plan, mask: RunMask, clock: Clock) {
    this.#instances = new Instances(plan);
    this.#mask = mask;
    this.#clock = clock;
  }

  called({ step_id, tool, input, result, failure, stub }: StubbedCall): void {
    const place = this.#issued.findIndex((each) => each.node === step_id && each.tool === tool);
    const [issued] = place < 0 ? [] : this.#issued.splice(place, 1);
    this.#add(step_id, {
      ...{ event: 'call', tool, input, attempt: issued?.attempt ?? 1 },
      ...(issued?.isCompensation === true ? { compensates: true } : {}),
      ...defined({ result }),
      ...(failure === undefined ? {} : { failure: maskedFailure(failure, this.#mask) }),
      ...defined({ stub }),
    });
  }

  /** A stub answers a question. */
  answered(
    node: string,
    answer: { readonly value: Json } | { readonly failure: Failure },
    stub: NonNullable<StubbedCall['stub']>,
  ): void {
    const outcome =
      'value' in answer
        ? { answer: this.#mask.json(answer.value) }
        : { failure: maskedFailure(answer.failure, this.#mask) };
    this.#add(node, { event: 'answered', ...outcome, stub });
  }

  /** Takes the facts of the run, each once and in order. */
  observe(fact: Fact, state: RunState): void {
    switch (fact.kind) {
      case 'callIssued':
        this.#issued.push(fact);
        return;
      case 'resourceRequested':
        this.#reads.set(fact.command, fact);
        return;
      case 'callReturned':
        this.#read(fact);
        return;
      case 'compensationSkipped':
        this.#add(fact.node, { event: 'nothing_to_undo', tool: fact.tool });
        return;
      case 'compensating':
        this.#add(fact.node, { event: 'undoing' });
        return;
      case 'nodeStarted':
      case 'nodeSkipped':
      case 'nodeSucceeded':
      case 'handled':
      case 'nodeFailed':
      case 'nodeCancelled':
        this.#settled(fact, state);
        return;
      default:
        this.#inside(fact);
    }
  }

  /** A resource was read: a call of a tool is reported by its stub. */
  #read({ command, outcome }: Extract<Fact, { kind: 'callReturned' }>): void {
    const resourceRequest = this.#reads.get(command);
    if (resourceRequest === undefined) return;
    const { node, resource, uri } = resourceRequest;
    const failure = outcome.ok ? {} : { failure: maskedFailure(outcome.failure, this.#mask) };
    this.#add(node, { event: 'read', resource, uri: this.#mask.text(uri), ...failure });
  }

  #settled(
    fact: Extract<
      Fact,
      {
        kind: 'nodeStarted' | 'nodeSkipped' | 'nodeSucceeded' | 'handled' | 'nodeFailed' | 'nodeCancelled';
      }
    >,
    state: RunState,
  ): void {
    const { node: key } = fact;
    const node = this.#instances.find(key);
    switch (fact.kind) {
      case 'nodeStarted':
        this.#statuses.set(key, 'running');
        this.#add(key, { event: 'started', kind: fact.nodeKind, ...this.#start(node) });
        return;
      case 'nodeSkipped': {
        this.#statuses.set(key, 'skipped');
        const { reason } = fact;
        const { when } = node.planned.node;
        const condition =
          reason === 'condition_false' && when !== undefined ? { condition: printExpr(when) } : {};
        this.#add(key, { event: 'skipped', reason, ...condition, ...this.#join(node, true) });
        return;
      }
      case 'nodeSucceeded': {
        this.#statuses.set(key, 'succeeded');
        const value = fact.value ?? outputOf(state, key);
        const shown = value === undefined ? {} : { value: this.#mask.outputOf(key, value as Json) };
        this.#add(key, { event: 'succeeded', ...shown });
        return;
      }
      case 'handled': {
        this.#statuses.set(key, 'handled');
        const { value, fallbackNode } = fact;
        this.#add(key, {
          ...{ event: 'handled', failure: maskedFailure(fact.failure, this.#mask) },
          ...(value === undefined ? {} : { value: this.#mask.outputOf(key, value) }),
          ...defined({ fallback: fallbackNode }),
        });
        return;
      }
      case 'nodeFailed':
        this.#statuses.set(key, 'failed');
        this.#add(key, { event: 'failed', failure: maskedFailure(fact.failure, this.#mask) });
        return;
      case 'nodeCancelled':
        this.#statuses.set(key, 'cancelled');
        this.#add(key, { event: 'cancelled' });
        return;
      default:
        fact satisfies never;
    }
  }

  /** What happens between the start of a node and its end. */
  #inside(fact: Fact): void {
    switch (fact.kind) {
      case 'retrying': {
        const { node, attempt, attempts, delayMs } = fact;
        this.#add(node, { event: 'retry', attempt, attempts, delay_ms: delayMs });
        return;
      }
      case 'branchTaken': {
        const { node, arm, goto } = fact;
        const route = defined({ goto });
        this.#add(node, { event: 'arm', arm, ...this.#armCondition(node, arm), ...route });
        return;
      }
      case 'partStarted': {
        const { node, arm, index, count } = fact;
        // An arm of a branch is in `branchTaken`.
        if (this.#instances.find(node).planned.node.kind === 'branch') return;
        const part = index === undefined ? { arm: arm ?? '' } : { index };
        this.#add(node, { event: 'part', ...part, count });
        return;
      }
      case 'waiting': {
        const { node, action, until } = fact;
        if (action !== undefined)
          this.#add(node, { event: 'asked', message: textOf(this.#mask.action(node, action)) });
        else if (until !== undefined)
          this.#add(node, { event: 'waits', wait_ms: Math.max(0, until - this.#clock.now()) });
        return;
      }
      case 'jumped': {
        const { node, target, visit, max } = fact;
        this.#add(node, { event: 'jump', target, visit, max });
        return;
      }
      case 'stateSet': {
        const { node, field, value } = fact;
        const shown = value === undefined ? {} : { value: this.#mask.json(value) };
        this.#add(node, { event: 'set', field, ...shown });
        return;
      }
      default:
    }
  }

  #start(node: NodeInstance): {
    readonly does: string;
    readonly condition?: string;
    readonly join?: DryJoin;
  } {
    const { when } = node.planned.node;
    return {
      does: describeNode(node.planned.node),
      ...(when === undefined ? {} : { condition: printExpr(when) }),
      ...this.#join(node, false),
    };
  }

  /** The states that decided the join of a node. One that waits for one other node to succeed says nothing. */
  #join(node: NodeInstance, isSkipped: boolean): { readonly join?: DryJoin } {
    const { joins, node: model } = node.planned;
    if (joins.length === 0) return {};
    if (!isSkipped && joins.length === 1 && model.join === 'none_failed') return {};
    const of = joins.map((each) => {
      const { key } = this.#instances.node(node.scope, each);
      return { step_id: key, status: this.#statuses.get(key) ?? 'pending' };
    });
    return { join: { rule: model.join, of } };
  }

  #armCondition(key: string, arm: string): { readonly condition?: string } {
    const { node } = this.#instances.find(key).planned;
    const branchCase = node.kind === 'branch' ? node.cases.find(({ id }) => id === arm) : undefined;
    return branchCase === undefined ? {} : { condition: printExpr(branchCase.when) };
  }

  #add(key: string | undefined, event: DryEvent): void {
    if (key === undefined) {
      this.path.push({ depth: 0, ...event });
      return;
    }
    const node = this.#instances.find(key);
    this.path.push({ step_id: key, depth: depthOf(node), ...partOf(node), ...event });
  }
}

/** How many containers and workflows a node is in. */
function depthOf({ scope }: NodeInstance): number {
  let depth = 0;
  for (let at = scope.container; at !== undefined; at = at.scope.container) depth += 1;
  return depth;
}

function partOf({ scope: { container, part } }: NodeInstance): { readonly in?: DryPart } {
  if (container === undefined) return {};
  const { key: step_id, planned } = container;
  if (planned.node.kind === 'foreach') return { in: { step_id, index: part } };
  const arm = planned.parts[part]?.arm;
  return { in: { step_id, ...defined({ arm }) } };
}
