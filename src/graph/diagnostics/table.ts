import { expressionFaults, referenceFaults } from './table/expressions.js';
import { graphFaults } from './table/graph.js';
import { moduleFaults } from './table/modules.js';
import { outputFaults } from './table/output.js';
import { structureFaults } from './table/structure.js';

/**
 * Every fault the product reports to an author, in one place. A code is never reused.
 * SW1xxx structure, SW2xxx expressions, SW3xxx references and order, SW4xxx graph, SW5xxx spec files,
 * SW6xxx schemas and modules, SW9xxx output and configuration. Each has a page in docs/diagnostics.
 */
export const diagnosticTable = {
  ...structureFaults,
  ...expressionFaults,
  ...referenceFaults,
  ...graphFaults,
  ...moduleFaults,
  ...outputFaults,
} as const;

/** Codes that were reported once. None of them is given to another fault. */
export const RETIRED_CODES = ['SW1026'] as const;

export type DiagnosticCode = keyof typeof diagnosticTable;
export type DiagnosticParams<C extends DiagnosticCode> = Parameters<
  (typeof diagnosticTable)[C]['message']
>[0];
