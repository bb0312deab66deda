import {
  type Attributes,
  type Context,
  context,
  type Link,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { defined } from '../graph/defined.js';
import { isJsonObject } from '../graph/json.js';
import { FAILURE_META } from '../runtime/server/wire.js';
import type { ObservedRequest, TraceCarrier } from '../runtime/tools/telemetry.js';
import type { UpstreamReference } from '../runtime/upstream/port.js';
import { errorType, type Instruments, safely, seconds, within } from './instruments.js';

/** The target of a method: which attribute has the name that its params have. */
const TARGETS: Readonly<Record<string, string>> = {
  'tools/call': 'gen_ai.tool.name',
  'prompts/get': 'gen_ai.prompt.name',
};

/** Longer texts of clients are cut off. */
const LONGEST = 128;

/** Faults of the client: to a server they are no errors. */
const CLIENT_FAULTS: ReadonlySet<unknown> = new Set([-32700, -32600, -32601, -32602, -32002]);

/** Reports a request of a client by a span, which its `_meta` may name the parent of, and by its duration. */
export async function reportRequest<T>(
  instruments: Instruments,
  request: ObservedRequest,
  work: () => Promise<T>,
): Promise<T> {
  const report = safely(() => new OperationReport(instruments, serverOperation(request)), undefined);
  if (report === undefined) return work();
  return report.around(work, (fault) => protocolFault(fault));
}

/** Reports a call of an upstream server in the same way, and names its span to that server. */
export async function reportUpstream<T>(
  instruments: Instruments,
  { server, tool }: UpstreamReference,
  send: (meta: TraceCarrier) => Promise<T>,
): Promise<T> {
  const report = safely(
    () =>
      new OperationReport(instruments, {
        ...{ method: 'tools/call', kind: SpanKind.CLIENT, target: tool, parent: context.active(), links: [] },
        measured: { ...toolCall('tools/call', tool), 'stepwright.upstream.server': server },
        spanAttributes: {},
      }),
    undefined,
  );
  const meta: Record<string, string> = {};
  if (report === undefined) return send(meta);
  safely(() => propagation.inject(report.context, meta, setter), undefined);
  return report.around(() => send(meta), upstreamFault);
}

const setter = {
  set(carrier: Record<string, string>, key: string, value: unknown): void {
    carrier[key] = String(value);
  },
};

/** A `_meta` of a client may hold anything. */
const getter = {
  get(carrier: unknown, key: string): string | undefined {
    const value = isJsonObject(carrier) && Object.hasOwn(carrier, key) ? carrier[key] : undefined;
    return typeof value === 'string' ? value : undefined;
  },
  keys: (carrier: unknown): string[] => (isJsonObject(carrier) ? Object.keys(carrier) : []),
};

interface Operation {
  readonly method: string;
  /** The name of the tool or prompt. */
  readonly target: string | undefined;
  readonly kind: SpanKind;
  readonly parent: Context;
  readonly links: Link[];
  /** Attributes of the span and of the metric: each has few values. */
  readonly measured: Attributes;
  /** Attributes of the span alone. */
  readonly spanAttributes: Attributes;
}

function serverOperation({
  method = '_OTHER',
  params,
  requestId,
  transport,
  protocolVersion,
}: ObservedRequest): Operation {
  const name = isJsonObject(params) && method in TARGETS ? params.name : undefined;
  const target = typeof name === 'string' ? name.slice(0, LONGEST) : undefined;
  return {
    ...{
      method,
      target,
      kind: SpanKind.SERVER,
      ...parentOf(isJsonObject(params) ? params._meta : undefined),
    },
    measured: {
      ...toolCall(method, target),
      ...(transport === undefined ? {} : { 'network.transport': transport === 'pipe' ? 'pipe' : 'tcp' }),
      ...(transport === 'http' ? { 'network.protocol.name': 'http' } : {}),
      ...defined({ 'mcp.protocol.version': protocolVersion }),
    },
    spanAttributes: { 'jsonrpc.request.id': requestId.slice(0, LONGEST) },
  };
}

/** What the message names is the parent, since one HTTP request may carry many messages. What surrounds it is linked. */
function parentOf(meta: unknown): Pick<Operation, 'parent' | 'links'> {
  const active = context.active();
  const parent = propagation.extract(active, meta, getter);
  const around = trace.getSpanContext(active);
  const isNamed = trace.getSpanContext(parent)?.spanId !== around?.spanId;
  return { parent, links: isNamed && around !== undefined ? [{ context: around }] : [] };
}

function toolCall(method: string, target: string | undefined): Attributes {
  const attribute = TARGETS[method];
  return {
    'mcp.method.name': method,
    ...(method === 'tools/call' ? { 'gen_ai.operation.name': 'execute_tool' } : {}),
    ...(attribute === undefined || target === undefined ? {} : { [attribute]: target }),
  };
}

interface OperationFault {
  readonly type?: string;
  /** The code that the peer gets. */
  readonly status?: number;
  /** The request names what is not there, or is malformed. */
  readonly isOfClient?: boolean;
}

function protocolFault(fault: unknown): OperationFault {
  const code: unknown = fault instanceof Error && 'code' in fault ? fault.code : undefined;
  const status = typeof code === 'number' ? code : -32603;
  if (CLIENT_FAULTS.has(status)) return { status, isOfClient: true };
  return { status, type: String(status) };
}

function upstreamFault(fault: unknown): OperationFault {
  const code: unknown = fault instanceof Error && 'code' in fault ? fault.code : undefined;
  return { type: typeof code === 'string' ? errorType(code) : '_OTHER' };
}

class OperationReport {
  readonly context: Context;
  readonly #instruments: Instruments;
  readonly #operation: Operation;
  readonly #span: Span;
  readonly #began = seconds();

  constructor(instruments: Instruments, operation: Operation) {
    const { method, target, kind, parent, links, measured, spanAttributes } = operation;
    this.#instruments = instruments;
    this.#operation = operation;
    const name = target === undefined ? method : `${method} ${target}`;
    const attributes = { ...measured, ...spanAttributes };
    this.#span = instruments.tracer.startSpan(name, { kind, attributes, links }, parent);
    this.context = trace.setSpan(parent, this.#span);
  }

  async around<T>(work: () => Promise<T>, faultOf: (fault: unknown) => OperationFault): Promise<T> {
    try {
      const result = await within(this.context, work);
      safely(() => this.#ended(resultFault(result)), undefined);
      return result;
    } catch (fault) {
      safely(() => this.#ended(faultOf(fault)), undefined);
      throw fault;
    }
  }

  #ended({ type, status, isOfClient = false, code }: OperationFault & { readonly code?: string }): void {
    const { method, measured } = this.#operation;
    const span = this.#span;
    if (status !== undefined) span.setAttribute('rpc.response.status_code', String(status));
    if (code !== undefined) span.setAttribute('stepwright.error.code', code);
    if (type !== undefined) {
      span.setAttribute('error.type', type);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    // What a client asks for that is not there must not be a name of a span or a value of a metric.
    if (isOfClient) span.updateName(method);
    span.end();
    const { kind } = this.#operation;
    const { serverOperation, clientOperation } = this.#instruments.metrics;
    const histogram = kind === SpanKind.SERVER ? serverOperation : clientOperation;
    histogram.record(seconds() - this.#began, {
      ...(isOfClient ? toolCall(method, undefined) : measured),
      ...(status === undefined ? {} : { 'rpc.response.status_code': String(status) }),
      ...defined({ 'error.type': type }),
    });
  }
}

/** A result with `isError` is an answer of the protocol, and a failure all the same. */
function resultFault(result: unknown): OperationFault & { readonly code?: string } {
  if (typeof result !== 'object' || result === null || !('isError' in result) || result.isError !== true)
    return {};
  const meta = '_meta' in result && isJsonObject(result._meta) ? result._meta[FAILURE_META] : undefined;
  const code = isJsonObject(meta) ? meta.code : undefined;
  return { type: 'tool_error', ...(typeof code === 'string' ? { code: errorType(code) } : {}) };
}
