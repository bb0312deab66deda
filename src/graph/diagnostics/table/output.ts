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
  SW9014: error(
    (p: { file: string; className?: string | undefined; reason: string }) =>
      `stepwright failed while it read ${p.className === undefined ? '' : `class \`${p.className}\` of `}\`${p.file}\`: ${p.reason}`,
    () =>
      'this is a fault of stepwright: please report it with the file; `STEPWRIGHT_DEBUG=1` shows where it happened',
  ),
  SW9015: error(
    (p: { file: string; limit: number }) => `\`${p.file}\` is nested more than ${p.limit} levels deep`,
    () => 'split it here, with constants or functions in between; or leave the file out of the sources',
  ),
  SW9016: error(
    (p: { limit: number }) => `the expression is nested more than ${p.limit} levels deep`,
    () =>
      'every operator and every branch is a level: write long text as one template, compute parts in steps of their own, or let a tool do it',
  ),
} as const;
