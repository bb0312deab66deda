export type { Diagnostic, Severity } from '../graph/diagnostics/diagnostic.js';
export { type CodegenOptions, type CodegenResult, runCodegen } from './codegen.js';
export { CodegenSession } from './incremental/memory.js';
export { type CodegenWatcher, type WatchedRun, type WatchOptions, watchCodegen } from './watch.js';
