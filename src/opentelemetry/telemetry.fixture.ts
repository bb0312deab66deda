import { context, propagation, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { onTestFinished } from 'vitest';
import { openTelemetry } from './index.js';

/** A span in a tree of names: `[name, children]`, or the name of one without children. */
export type SpanTree = string | readonly [name: string, children: readonly SpanTree[]];

/** Telemetry into memory, until the test ends. */
export class Recording {
  readonly #spans = new InMemorySpanExporter();
  /** The ids of the spans, in the order in which they began: their times are in ms. */
  readonly #begun: string[] = [];
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #meters: MeterProvider;
  readonly telemetry;

  /** @param processors further ones. */
  constructor(...processors: readonly SpanProcessor[]) {
    const order: SpanProcessor = {
      onStart: (span) => void this.#begun.push(span.spanContext().spanId),
      onEnd() {},
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    const tracerProvider = new NodeTracerProvider({
      spanProcessors: [order, new SimpleSpanProcessor(this.#spans), ...processors],
    });
    // Registers the propagator and the context manager, too.
    tracerProvider.register();
    const reader = new PeriodicExportingMetricReader({
      exporter: this.#metrics,
      exportIntervalMillis: 2 ** 31 - 1,
    });
    this.#meters = new MeterProvider({ readers: [reader] });
    this.telemetry = openTelemetry({ tracerProvider, meterProvider: this.#meters });
    onTestFinished(async () => {
      for (const api of [trace, context, propagation]) api.disable();
      await Promise.all([tracerProvider.shutdown(), this.#meters.shutdown()]);
    });
  }

  /** The spans that have ended, in the order in which they did. */
  get spans(): readonly ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  span(name: string, attributes: ReadableSpan['attributes'] = {}): ReadableSpan {
    const found = this.spans.filter(
      (each) =>
        each.name === name &&
        Object.entries(attributes).every(([key, value]) => each.attributes[key] === value),
    );
    const [span] = found;
    if (span === undefined || found.length > 1) {
      throw new Error(`${found.length} spans are named ${name}: ${JSON.stringify(this.tree)}`);
    }
    return span;
  }

  /** The spans by name, in the order in which they began. A span whose parent is not here is at the top. */
  get tree(): readonly SpanTree[] {
    const begun = (span: ReadableSpan): number => this.#begun.indexOf(span.spanContext().spanId);
    const spans = this.spans.toSorted((one, other) => begun(one) - begun(other));
    const ids = new Set(spans.map((span) => span.spanContext().spanId));
    const under = (parent: string | undefined): SpanTree[] =>
      spans
        .filter(({ parentSpanContext }) => {
          const id = parentSpanContext?.spanId;
          return parent === undefined ? id === undefined || !ids.has(id) : id === parent;
        })
        .map((span) => {
          const children = under(span.spanContext().spanId);
          return children.length === 0 ? span.name : [span.name, children];
        });
    return under(undefined);
  }

  /** Every point of a metric: its attributes, with the number of values. */
  async points(metric: string): Promise<readonly (readonly [attributes: object, count: number])[]> {
    await this.#meters.forceFlush();
    const metrics =
      this.#metrics
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
    return metrics
      .filter(({ descriptor }) => descriptor.name === metric)
      .flatMap(({ dataPoints }) =>
        dataPoints.map(
          ({ attributes, value }) =>
            [{ ...attributes }, typeof value === 'number' ? value : value.count] as const,
        ),
      );
  }
}
