import 'reflect-metadata';

export { Arg, type ArgMark, type ArgOptions } from './decorators/arg.js';
export type { AuthInfo, ToolContext } from './decorators/context.js';
export { WorkflowNotRunnableError } from './decorators/faults.js';
export { Resource, type ResourceClass, type ResourceOptions } from './decorators/resource.js';
export { Step, type StepOptions } from './decorators/step.js';
export { Tool, type ToolAnnotations, type ToolClass, type ToolOptions } from './decorators/tool.js';
export { type CallOptions, call, done, fail, read } from './decorators/verbs.js';
export { Workflow, type WorkflowClass, type WorkflowOptions } from './decorators/workflow.js';
export type { ArgsOf, ResultOf, Returned } from './decorators/workflow-types.js';
