import { error, nearest, warning } from './entry.js';

/** Faults of what codegen writes, and of how it is configured. */
export const outputFaults = {
  SW9001: error(
    (p: { file: string; state?: 'stale' | 'missing' }) => `\`${p.file}\` is ${p.state ?? 'stale'}`,
    () => 'run `stepwright codegen` and commit the result',
  ),
  SW9002: error(
    (p: { file: string; problem: string; suggestion?: string | undefined }) =>
      `configuration \`${p.file}\`: ${p.problem}`,
    nearest,
  ),
  SW9003: error((p: { patterns: string }) => `no source file matches ${p.patterns}`),
  SW9004: error(
    (p: { file: string }) => `\`${p.file}\` was not written by stepwright, and is not overwritten`,
    () => 'name another file in `out`, or delete this one',
  ),
  SW9005: error((p: { file: string; reason: string }) => `\`${p.file}\` cannot be written: ${p.reason}`),
  SW9006: warning(
    (p: { file: string; count: number }) =>
      `\`${p.file}\` is empty: no class in ${p.count === 1 ? 'its one source file' : `its ${p.count} source files`} has a decorator of stepwright`,
    () => 'let the sources include the files with the classes, or remove the registry',
  ),
  SW9010: error(
    (p: { code: string; suggestion?: string | undefined }) => `there is no diagnostic \`${p.code}\``,
    nearest,
  ),
  SW9011: error(
    (p: { code: string; wanted: string }) => `\`${p.code}\` is an error, and cannot be made ${p.wanted}`,
    () => 'only warnings can be turned off or changed',
  ),
  SW9012: error(
    (p: { problem: string }) => `the comment \`stepwright-ignore\` ${p.problem}`,
    () => 'write `// stepwright-ignore SW3010: why it is right here`',
  ),
  SW9013: warning(
    (p: { code: string }) => `nothing here is reported as \`${p.code}\`: the comment silences nothing`,
    () => 'remove the comment, or move it above the line that is reported',
  ),
} as const;
