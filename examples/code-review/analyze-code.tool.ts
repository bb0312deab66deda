import { Tool } from 'stepwright';
import { z } from 'zod';
import { type Finding, findingsIn } from './findings.js';

/** More would bury the ones that matter. */
const MOST = 100;

@Tool({
  name: 'analyze-code',
  description: 'Find long lines, markers without a ticket, deep nesting and mixed indentation in code',
  input: z.object({ code: z.string().min(1).max(100_000).describe('The code, as text; any language') }),
  output: z.object({
    lines: z.int().describe('How many lines were looked at'),
    findings: z.array(
      z.object({
        line: z.int().describe('Counted from 1'),
        rule: z.enum(['long-line', 'todo-marker', 'deep-nesting', 'mixed-indentation']),
        severity: z.enum(['warning', 'note']),
        message: z.string(),
      }),
    ),
    omitted: z.int().describe(`Findings beyond the first ${MOST}, which are left out`),
  }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
})
export class AnalyzeCode {
  execute({ code }: { code: string }): { lines: number; findings: Finding[]; omitted: number } {
    const findings = findingsIn(code);
    return {
      lines: code.replace(/\r?\n$/, '').split('\n').length,
      findings: findings.slice(0, MOST),
      omitted: Math.max(0, findings.length - MOST),
    };
  }
}
