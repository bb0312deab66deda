import {
  type Attributes,
  type Context,
  context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { planOf } from '../plan/compile.js';
import { nodeKey, parseNodeKey } from '../plan/instances.js';
import type { Plan, PlannedNode } from '../plan/plan.js';
import type { Fact, RunState } from '../runtime/engine/contract.js';
import type {
  ObservedCall,
  ObservedRemoteCall,
  ObservedRun,
  RunTelemetry,
  TraceCarrier,
} from '../runtime/tools/telemetry.js';
import { errorType, type Instruments, safely, seconds, within } from './instruments.js';

interface OpenSpan {
  readonly span: Span;
  readonly context: Context;
  readonly began: number;
  readonly attributes: Attributes;
}

/** What the spans of a node have in common. */
interface Form {
  readonly name: string;
  /** Attributes of its spans and of its metrics: each has few values. */
  readonly attributes: Attributes;
  /** Whether its attempts are commands, which have spans of their own: it is a call or a read. */
  readonly isCall: boolean;
}

/** Where a node is in the graph of its run. */
interface Place {
  readonly planned: PlannedNode;
  readonly form: Form;
  /** The indices of the loops around it, the outermost first. */
  readonly indices: readonly number[];
  /** The keys of what is around it, the innermost first. */
  readonly around: readonly string[];
}

/** A node that has started and not ended. */
interface OpenNode {
  readonly place: Place;
  attempt: number;
  /** Whether the attempt was reported by a call of it. */
  hasCalled: boolean;
  /** Of the attempt; none of a call or a read, whose commands have their own. */
  open: OpenSpan | undefined;
}

/**
 * The spans of one run in this process: one of the run, in it one for each attempt of a node. An attempt of a call or a
 * read lasts as long as its command, any other from the start of the node.
 */
export class RunSpans implements RunTelemetry {
  readonly #instruments: Instruments;
  readonly #plan: Plan;
  readonly #run: OpenSpan | undefined;
  readonly #nodes = new Map<string, OpenNode>();
  readonly #calls = new Map<string, OpenSpan>();
  #isOver = false;

  constructor(instruments: Instruments, run: ObservedRun) {
    this.#instruments = instruments;
    this.#plan = planOf(run.graph);
    this.#run = safely(() => this.#begin(run), undefined);
  }

  get carrier(): TraceCarrier {
    return this.#run === undefined ? {} : carrierOf(this.#run.context);
  }

  observe(fact: Fact, state: RunState): void {
    if (!this.#isOver) safely(() => this.#take(fact, state), undefined);
  }

  inCall<T>(call: ObservedCall, make: () => T): T {
    if (this.#isOver) return make();
    const around = safely(() => this.#call(call), undefined);
    return around === undefined ? make() : within(around, make);
  }

  end(): void {
    if (!this.#isOver) safely(() => this.#close({ 'stepwright.run.status': 'running' }), undefined);
  }

  #begin({ graph: { name }, ref, origin }: ObservedRun): OpenSpan {
    const earlier = origin && trace.getSpanContext(propagation.extract(ROOT_CONTEXT, origin));
    const links = earlier === undefined ? [] : [link('earlier_part', earlier)];
    const attributes = workflowAttributes(name);
    return startSpan(this.#instruments.tracer, `invoke_workflow ${name}`, context.active(), {
      ...{ links, attributes, spanAttributes: { 'stepwright.run.ref': ref } },
    });
  }

  #take(fact: Fact, state: RunState): void {
    switch (fact.kind) {
      case 'nodeStarted': {
        const place = this.#placeOf(fact.node);
        if (place === undefined) return;
        // A container that is attempted again starts its nodes over.
        this.#nodes.get(fact.node)?.open?.span.end();
        const node: OpenNode = { place, attempt: 1, hasCalled: false, open: undefined };
        this.#nodes.set(fact.node, node);
        if (!place.form.isCall) this.#openOf(node);
        return;
      }
      case 'callReturned':
      case 'resourceShown':
        this.#endCall(fact.command, fact.outcome.ok ? undefined : fact.outcome.failure.code);
        return;
      case 'retrying':
        this.#retry(fact.node, fact.attempt, fact.failure.code);
        return;
      case 'waiting':
        this.#eventOf(fact.node, 'stepwright.node.waiting');
        return;
      case 'reminded':
        this.#eventOf(fact.node, 'stepwright.node.reminded');
        return;
      case 'answered':
        this.#eventOf(fact.node, 'stepwright.node.answered');
        return;
      case 'nodeSkipped':
        this.#skip(fact.node, fact.reason);
        return;
      case 'handled':
      case 'nodeFailed':
        this.#settle(fact.node, fact.failure.code);
        return;
      case 'nodeCancelled':
        this.#settle(fact.node, 'E_CANCELLED');
        return;
      case 'nodeSucceeded':
        this.#settle(fact.node, undefined);
        return;
      case 'finished':
        this.#finish(fact, state);
        return;
      default:
    }
  }

  /** Where the call of a run belongs: a call of a tool and a read have spans of their own. */
  #call({ kind, id, node: key, tool, resource, attempt, isCompensation, undoes }: ObservedCall): Context {
    const node = this.#nodes.get(key);
    const place = node?.place ?? this.#placeOf(key);
    if (place === undefined) return this.#contextOf([]);
    const around = this.#contextOf(place.form.isCall ? place.around : [key, ...place.around]);
    if (kind === 'evaluate') return around;
    const compensates = isCompensation === true || undoes !== undefined;
    if (node !== undefined && !compensates) node.hasCalled = true;
    const form = kind === COMMANDS[place.planned.node.kind] && !compensates ? place.form : undefined;
    const open = startSpan(this.#instruments.tracer, form?.name ?? callName(tool, resource), around, {
      attributes: form?.attributes ?? {
        ...nodeAttributes(place.planned),
        ...callAttributes(tool, resource),
        ...(compensates ? { 'stepwright.compensation': true } : {}),
      },
      spanAttributes: attemptAttributes(place, attempt ?? node?.attempt ?? 1),
    });
    this.#calls.set(id, open);
    return open.context;
  }

  #endCall(command: string, code: string | undefined): void {
    const open = this.#calls.get(command);
    if (open === undefined) return;
    this.#calls.delete(command);
    endAttempt(this.#instruments, open, code);
  }

  /** The next attempt begins with what happens in it: there may be a delay before. */
  #retry(key: string, attempt: number, code: string): void {
    const node = this.#nodes.get(key);
    if (node === undefined) return;
    if (node.open !== undefined) endAttempt(this.#instruments, node.open, code);
    node.open = undefined;
    node.hasCalled = false;
    node.attempt = attempt + 1;
  }

  #settle(key: string, code: string | undefined): void {
    const node = this.#nodes.get(key);
    if (node === undefined) return;
    this.#nodes.delete(key);
    const { place, open, hasCalled } = node;
    const { node: of } = place.planned;
    if (open !== undefined) {
      endAttempt(this.#instruments, open, code);
      if (of.kind === 'workflow') this.#measureWorkflow(of.workflow, open.began, code);
    } else if (!place.form.isCall || (!hasCalled && code !== undefined))
      endAttempt(this.#instruments, this.#openOf(node), code);
  }

  #skip(key: string, reason: string): void {
    this.#nodes.delete(key);
    const place = this.#placeOf(key);
    if (place === undefined) return;
    trace.getSpan(this.#contextOf(place.around))?.addEvent('stepwright.node.skipped', {
      ...{ 'stepwright.node.id': place.planned.node.id, 'stepwright.node.skip_reason': reason },
      ...indexAttributes(place),
    });
  }

  #eventOf(key: string, event: string): void {
    const node = this.#nodes.get(key);
    if (node !== undefined) this.#openOf(node).span.addEvent(event);
  }

  /** The span of the attempt of a node, which is begun where it has not been. */
  #openOf(node: OpenNode): OpenSpan {
    if (node.open !== undefined) return node.open;
    const { place } = node;
    const { planned, around } = place;
    const parent = this.#contextOf(around);
    const called = planned.node.kind === 'workflow' ? planned.node.workflow : undefined;
    const spanAttributes = attemptAttributes(place, node.attempt);
    node.open = startSpan(this.#instruments.tracer, place.form.name, parent, {
      links: called === undefined ? [] : this.#callerOf(around),
      attributes: place.form.attributes,
      spanAttributes:
        called === undefined ? spanAttributes : { ...spanAttributes, ...workflowAttributes(called) },
    });
    return node.open;
  }

  /** The workflow that runs another one. */
  #callerOf(around: readonly string[]): Link[] {
    const key = around.find((each) => this.#nodes.get(each)?.place.planned.node.kind === 'workflow');
    const { span } = (key === undefined ? undefined : this.#nodes.get(key)?.open) ?? this.#run ?? {};
    return span === undefined ? [] : [link('calling_workflow', span.spanContext())];
  }

  /** The context of the innermost of these nodes that is open. A run that resumes in another process has none at first. */
  #contextOf(keys: readonly string[]): Context {
    for (const key of keys) {
      const node = this.#nodes.get(key);
      if (node !== undefined) return this.#openOf(node).context;
    }
    return this.#run?.context ?? context.active();
  }

  #finish({ status, failure }: Extract<Fact, { kind: 'finished' }>, { run }: RunState): void {
    const code = status === 'succeeded' ? undefined : (failure?.code ?? 'E_CANCELLED');
    const failed = this.#run === undefined ? {} : failedWith(this.#run.span, code);
    this.#close({ 'stepwright.run.status': status });
    const measured = { 'gen_ai.workflow.name': this.#plan.graph.name, ...failed };
    const { workflow, runs } = this.#instruments.metrics;
    // A run may have begun in another process.
    workflow.record(Math.max(0, Date.now() - run.startedAt) / 1_000, measured);
    runs.add(1, { ...measured, 'stepwright.run.status': status });
  }

  #measureWorkflow(name: string, began: number, code: string | undefined): void {
    const failed = code === undefined ? {} : { 'error.type': errorType(code) };
    this.#instruments.metrics.workflow.record(seconds() - began, { 'gen_ai.workflow.name': name, ...failed });
  }

  #close(attributes: Attributes): void {
    this.#isOver = true;
    for (const { span } of this.#calls.values()) span.end();
    for (const { open } of [...this.#nodes.values()].reverse()) open?.span.end();
    this.#calls.clear();
    this.#nodes.clear();
    this.#run?.span.setAttributes(attributes);
    this.#run?.span.end();
  }

  #placeOf(key: string): Place | undefined {
    const atTop = this.#plan.main.byId.get(key);
    if (atTop?.scope === this.#plan.main.root)
      return { planned: atTop, form: formOf(atTop), indices: NONE, around: NONE };
    let workflow = this.#plan.main;
    let prefix = '';
    const around: string[] = [];
    const parts = parseNodeKey(key);
    for (const [position, { id, indices }] of parts.entries()) {
      const planned = workflow.byId.get(id);
      if (planned === undefined) return undefined;
      for (const { node, scope } of containersOf(planned))
        around.unshift(nodeKey(prefix, node.id, indices.slice(0, scope.loops.length)));
      if (position === parts.length - 1) return { planned, form: formOf(planned), indices, around };
      const own = nodeKey(prefix, id, indices);
      const called =
        planned.node.kind === 'workflow' ? this.#plan.tasks.get(planned.node.workflow) : undefined;
      if (called === undefined) return undefined;
      around.unshift(own);
      prefix = `${own}/`;
      workflow = called;
    }
    return undefined;
  }
}

/** The identity of the span of a context. */
export function carrierOf(of: Context): TraceCarrier {
  const carrier: Record<string, string> = {};
  safely(() => propagation.inject(of, carrier), undefined);
  return carrier;
}

/** Reports a call of a run that another process started. */
export async function reportRemoteCall<
  T extends { readonly ok: boolean; readonly failure?: { code: string } },
>(instruments: Instruments, call: ObservedRemoteCall, make: () => Promise<T>): Promise<T> {
  const open = safely(() => beginRemoteCall(instruments, call), undefined);
  if (open === undefined) return make();
  const end = (code: string | undefined): void =>
    safely(() => endAttempt(instruments, open, code), undefined);
  try {
    const outcome = await within(open.context, make);
    end(outcome.failure?.code);
    return outcome;
  } catch (fault) {
    end('_OTHER');
    throw fault;
  }
}

function beginRemoteCall(
  { tracer }: Instruments,
  { tool, resource, carrier, origin }: ObservedRemoteCall,
): OpenSpan {
  const { workflow, node, run } = origin;
  const parent = propagation.extract(context.active(), carrier);
  const attributes = {
    ...{ 'gen_ai.workflow.name': workflow, 'stepwright.node.id': node },
    ...callAttributes(tool, resource),
  };
  const spanAttributes = { 'stepwright.run.ref': run };
  return startSpan(tracer, callName(tool, resource), parent, { attributes, spanAttributes });
}

function startSpan(
  tracer: Tracer,
  name: string,
  parent: Context,
  {
    links = [],
    attributes,
    spanAttributes = {},
  }: { links?: Link[]; attributes: Attributes; spanAttributes?: Attributes },
): OpenSpan {
  const began = seconds();
  const of = { kind: SpanKind.INTERNAL, attributes: { ...attributes, ...spanAttributes }, links };
  const span = tracer.startSpan(name, of, parent);
  return { span, context: trace.setSpan(parent, span), began, attributes };
}

function endAttempt(
  { metrics: { node, attempts } }: Instruments,
  { span, began, attributes }: OpenSpan,
  code: string | undefined,
): void {
  const failed = failedWith(span, code);
  span.end();
  const measured = failed === undefined ? attributes : { ...attributes, ...failed };
  node.record(seconds() - began, measured);
  attempts.add(1, measured);
}

const NONE: readonly never[] = [];

/** The commands that are attempts of a kind of node. */
const COMMANDS: Readonly<Record<string, ObservedCall['kind']>> = {
  call: 'callTool',
  resource: 'readResource',
};

/** They are made once for each node: a step has its price. */
const forms = new WeakMap<PlannedNode, Form>();

function formOf(planned: PlannedNode): Form {
  const cached = forms.get(planned);
  if (cached !== undefined) return cached;
  const { node } = planned;
  const tool = node.kind === 'call' ? node.tool : undefined;
  const resource = node.kind === 'resource' ? node.resource : undefined;
  const isCall = node.kind in COMMANDS;
  const name = node.kind === 'workflow' ? `invoke_workflow ${node.workflow}` : `${node.kind} ${node.id}`;
  const attributes = nodeAttributes(planned);
  const form: Form = {
    name: isCall ? callName(tool, resource) : name,
    attributes: isCall ? { ...attributes, ...callAttributes(tool, resource) } : attributes,
    isCall,
  };
  forms.set(planned, form);
  return form;
}

/** The containers around a node in its workflow, the outermost first. */
function containersOf({ scope: { container } }: PlannedNode): PlannedNode[] {
  return container === undefined ? [] : [...containersOf(container), container];
}

function callName(tool: string | undefined, resource: string | undefined): string {
  return tool === undefined ? `read_resource ${resource}` : `execute_tool ${tool}`;
}

function callAttributes(tool: string | undefined, resource: string | undefined): Attributes {
  return tool === undefined
    ? { 'stepwright.resource.name': resource ?? '' }
    : { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool };
}

function workflowAttributes(name: string): Attributes {
  return { 'gen_ai.operation.name': 'invoke_workflow', 'gen_ai.workflow.name': name };
}

function nodeAttributes({ node, scope }: PlannedNode): Attributes {
  return {
    'gen_ai.workflow.name': scope.workflow.graph.name,
    'stepwright.node.id': node.id,
    'stepwright.node.kind': node.kind,
  };
}

function attemptAttributes(place: Place, attempt: number): Attributes {
  return { ...indexAttributes(place), 'stepwright.node.attempt': attempt };
}

/** Only spans distinguish the items of a loop: a metric would have a series for each. */
function indexAttributes({ indices }: Place): Attributes {
  return indices.length === 0 ? {} : { 'stepwright.node.index': [...indices] };
}

function failedWith(span: Span, code: string | undefined): Attributes | undefined {
  if (code === undefined) return undefined;
  const failed = { 'error.type': errorType(code) };
  span.setAttributes(failed).setStatus({ code: SpanStatusCode.ERROR });
  return failed;
}

function link(relation: string, to: Link['context']): Link {
  return { context: to, attributes: { 'stepwright.link': relation } };
}
