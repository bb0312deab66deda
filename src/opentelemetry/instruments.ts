import {
  type Attributes,
  type Context,
  type Counter,
  context,
  diag,
  type Histogram,
  type MeterProvider,
  metrics,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';

/** Where spans and metrics go. */
export interface OpenTelemetryOptions {
  /** Default: the one that the program has registered. */
  readonly tracerProvider?: TracerProvider;
  /** Default: the one that the program has registered before the first request or run. */
  readonly meterProvider?: MeterProvider;
}

const SCOPE = 'stepwright';

/** The boundaries that the conventions advise for MCP, in seconds. */
const BOUNDARIES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** The instruments. They are made when they are first needed: a program may register its providers late. */
export class Instruments {
  readonly #options: OpenTelemetryOptions;
  #tracer: Tracer | undefined;
  #metrics: Metrics | undefined;

  constructor(options: OpenTelemetryOptions) {
    this.#options = options;
  }

  get tracer(): Tracer {
    this.#tracer ??= (this.#options.tracerProvider ?? trace).getTracer(SCOPE);
    return this.#tracer;
  }

  get metrics(): Metrics {
    this.#metrics ??= new Metrics(this.#options.meterProvider);
    return this.#metrics;
  }
}

/** Durations are in seconds. */
export class Metrics {
  readonly serverOperation: Histogram;
  readonly clientOperation: Histogram;
  readonly workflow: Histogram;
  readonly node: Histogram;
  readonly runs: Counter;
  readonly attempts: Counter;
  readonly storeFaults: Counter;

  constructor(provider: Pick<MeterProvider, 'getMeter'> = metrics) {
    const meter = provider.getMeter(SCOPE);
    const duration = (name: string, description: string): Histogram<Attributes> =>
      meter.createHistogram(name, {
        ...{ description, unit: 's', advice: { explicitBucketBoundaries: BOUNDARIES } },
      });
    this.serverOperation = duration('mcp.server.operation.duration', 'Duration of requests of clients');
    this.clientOperation = duration('mcp.client.operation.duration', 'Duration of calls of upstream servers');
    this.workflow = duration('gen_ai.workflow.duration', 'Duration of workflows');
    this.node = duration('stepwright.node.duration', 'Duration of attempts of nodes');
    this.runs = meter.createCounter('stepwright.workflow.runs', {
      ...{ description: 'Runs that have ended', unit: '{run}' },
    });
    this.attempts = meter.createCounter('stepwright.node.attempts', {
      ...{ description: 'Attempts of nodes that have ended', unit: '{attempt}' },
    });
    this.storeFaults = meter.createCounter('stepwright.store.faults', {
      ...{ description: 'Faults of the file of the store that stay', unit: '{fault}' },
    });
  }
}

/** A time, in seconds since an arbitrary one. */
export function seconds(): number {
  return performance.now() / 1_000;
}

/** A code may be what a tool threw: an attribute must have few values, and none that is a text. */
export function errorType(code: string): string {
  return /^[\w.-]{1,64}$/.test(code) ? code : '_OTHER';
}

let isWarned = false;

/**
 * Does something that reports. What processors, propagators and exporters throw must not reach what is reported: the
 * first fault of the process is a warning of it, and all of them go to the diagnostic logger of OpenTelemetry.
 *
 * @returns `otherwise` where it throws.
 */
export function safely<T>(report: () => T, otherwise: T): T {
  try {
    return report();
  } catch (fault) {
    tell(fault);
    return otherwise;
  }
}

/** Does work in a context, so that spans in it become children. */
export function within<T>(of: Context, work: () => T): T {
  let hasStarted = false;
  const begin = (): T => {
    hasStarted = true;
    return work();
  };
  try {
    return context.with(of, begin);
  } catch (fault) {
    if (hasStarted) throw fault;
    tell(fault);
    return work();
  }
}

function tell(fault: unknown): void {
  try {
    diag.error('stepwright: telemetry failed', fault);
    if (isWarned) return;
    isWarned = true;
    const text = fault instanceof Error ? fault.message : String(fault);
    process.emitWarning(`telemetry failed: ${text}`, 'StepwrightWarning');
  } catch {
    // A diagnostic logger that throws has no place to report it.
  }
}
