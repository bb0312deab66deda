import { context } from '@opentelemetry/api';
import type { Telemetry } from '../runtime/tools/telemetry.js';
import { Instruments, type OpenTelemetryOptions, safely } from './instruments.js';
import { reportRequest, reportUpstream } from './requests.js';
import { carrierOf, RunSpans, reportRemoteCall } from './run-spans.js';

export type { OpenTelemetryOptions } from './instruments.js';

/**
 * Reports requests, runs, steps and calls of upstream servers as spans and metrics of OpenTelemetry, for the option
 * `telemetry` of a server. Spans hold no arguments, no results and no messages. The program registers the SDK; without
 * one nothing is recorded. What the SDK throws changes no request and no run: the first fault is a process warning.
 *
 * @example
 * ```ts
 * new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();
 *
 * await serve(registry, { telemetry: openTelemetry() });
 * ```
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  const instruments = new Instruments(options);
  return {
    request: (request, work) => reportRequest(instruments, request, work),
    run: (run) => new RunSpans(instruments, run),
    carrier: () => carrierOf(context.active()),
    remoteCall: (call, make) => reportRemoteCall(instruments, call, make),
    upstream: (reference, send) => reportUpstream(instruments, reference, send),
    storeFault: (problem) =>
      safely(
        () => instruments.metrics.storeFaults.add(1, { 'stepwright.store.problem': problem }),
        undefined,
      ),
  };
}
