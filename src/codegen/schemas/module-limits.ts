/** What the import of one module may use. */
export interface ModuleLimits {
  /** CPU time of its own, in milliseconds: a busy machine takes none of it. */
  readonly cpuMs: number;
  /** How long it may wait, in milliseconds: time of which the process uses under a hundredth as CPU time. */
  readonly waitMs: number;
  /** Memory of the process it is read in, in MiB. */
  readonly memoryMb: number;
}

export const DEFAULT_MODULE_LIMITS: ModuleLimits = { cpuMs: 10_000, waitMs: 10_000, memoryMb: 2048 };

/** Which limit a module met. `unsettled`: it awaits a promise, and nothing is left that could settle it. */
export type StopReason = 'cpu' | 'wait' | 'memory' | 'unsettled';

/** The state of the process at one moment. */
export interface UsageSample {
  /** Which module is being read, counted from 0; negative while none is. */
  readonly module: number;
  /** A monotonic clock, in milliseconds. */
  readonly clockMs: number;
  /** CPU time that the process has used since it started, in milliseconds. */
  readonly cpuMs: number;
  /** Resident memory of the process. */
  readonly memoryMb: number;
}

/** Judges the next sample: the limit that the module has met by now, if any. */
export type UsageJudge = (sample: UsageSample) => Exclude<StopReason, 'unsettled'> | undefined;

/**
 * Judges how one process reads its modules, from samples that come at intervals.
 *
 * A wait is a stretch of `waitMs` in which the process used under a hundredth of it as CPU time. A sample that comes late counts as if
 * it came two intervals after the one before: a process that is not scheduled, or a machine that sleeps, is no wait.
 *
 * The function must not refer to anything outside of itself: its text runs in another thread.
 *
 * @param intervalMs - how far apart the samples are meant to be.
 */
export function usageJudge(limits: ModuleLimits, intervalMs: number): UsageJudge {
  const idleCpuMs = limits.waitMs / 100;
  let current = -1;
  let previous: UsageSample | undefined;
  let cpuAtStart = 0;
  let awakeMs = 0;
  let stretch: { readonly awakeMs: number; readonly cpuMs: number }[] = [];
  return (sample) => {
    const elapsed = previous === undefined ? 0 : sample.clockMs - previous.clockMs;
    previous = sample;
    if (sample.module !== current) {
      current = sample.module;
      cpuAtStart = sample.cpuMs;
      awakeMs = 0;
      stretch = [{ awakeMs, cpuMs: sample.cpuMs }];
      return undefined;
    }
    if (current < 0) return undefined;
    if (sample.memoryMb > limits.memoryMb) return 'memory';
    if (sample.cpuMs - cpuAtStart >= limits.cpuMs) return 'cpu';
    awakeMs += Math.min(elapsed, 2 * intervalMs);
    // The last sample that is old enough is the start of the stretch.
    while ((stretch[1]?.awakeMs ?? awakeMs) <= awakeMs - limits.waitMs) stretch.shift();
    stretch.push({ awakeMs, cpuMs: sample.cpuMs });
    const start = stretch[0];
    if (start === undefined || awakeMs - start.awakeMs < limits.waitMs) return undefined;
    return sample.cpuMs - start.cpuMs < idleCpuMs ? 'wait' : undefined;
  };
}
