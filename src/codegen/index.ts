export type { Diagnostic, Severity } from '../graph/diagnostics/diagnostic.js';
export { type CodegenOptions, type CodegenResult, runCodegen } from './codegen.js';
