export type { CheckEnvironment, ToolSignature } from '../check/check-graph.js';
export type { Diagnostic } from '../graph/diagnostics/diagnostic.js';
export {
  type FormatOptions,
  formatDiagnostics,
  formatGithub,
  formatJson,
} from '../graph/diagnostics/format.js';
export { type LoadedWorkflows, type LoadOptions, loadWorkflowFiles } from './load-files.js';
export {
  type Domain,
  type ParseOptions,
  parseWorkflows,
  type SpecWorkflow,
  type SpecWorkflows,
} from './spec-files.js';
export type { TextFormat } from './text/read-text.js';
export { parseUntrustedWorkflows } from './untrusted/parse-untrusted.js';
