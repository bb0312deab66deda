import { type Context, context, diag } from '@opentelemetry/api';

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
