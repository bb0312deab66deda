import 'reflect-metadata';

export type { JsonTypeName, ValueRules } from './decorators/arg.js';
export { Arg, type ArgMark, type ArgOptions } from './decorators/arg.js';
export { type Ask, ask } from './decorators/ask.js';
export type {
  AuthInfo,
  CompletionContext,
  Owner,
  Principal,
  RequestContext,
  ResourceContext,
  ToolContext,
} from './decorators/context.js';
export type {
  Duration,
  FailedBranch,
  ItemFailure,
  Moment,
  PartialFailure,
  Span,
} from './decorators/control-flow.js';
export * from './decorators/control-flow.js';
export { WorkflowNotRunnableError } from './decorators/faults.js';
export {
  Prompt,
  type PromptClass,
  type PromptOptions,
  type SimplePrompt,
  type SimplePromptArgument,
  type SimplePromptArguments,
  type SimplePromptHandler,
  simplePrompt,
} from './decorators/prompt.js';
export {
  type AudioContent,
  assistant,
  audio,
  type EmbeddedResource,
  type Handle,
  type ImageContent,
  image,
  type PromptContent,
  type PromptMessage,
  type PromptMessages,
  type PromptPart,
  type PromptRole,
  PromptText,
  prompt,
  type ResourceLink,
  system,
  type TextContent,
  user,
} from './decorators/prompt-content.js';
export type {
  ResourceClass,
  ResourceContent,
  ResourceTemplateClass,
  VariablesOf,
} from './decorators/resource.js';
export { Resource, type ResourceOptions } from './decorators/resource.js';
export { get, State, type StateClass, type StateOptions, set } from './decorators/state.js';
export type { RetryOptions } from './decorators/step.js';
export { Step, type StepOptions } from './decorators/step.js';
export {
  type Icon,
  Tool,
  type ToolAnnotations,
  type ToolClass,
  type ToolHints,
  type ToolOptions,
} from './decorators/tool.js';
export type { NestedOptions, ToolInput } from './decorators/verbs.js';
export {
  attempt,
  type CallOptions,
  call,
  chain,
  done,
  type FailOptions,
  fail,
  link,
  read,
  run,
  type StepError,
} from './decorators/verbs.js';
export {
  type ErrorStrategyOption,
  Workflow,
  type WorkflowClass,
  type WorkflowOptions,
} from './decorators/workflow.js';
export type { ArgsOf, ResultOf, Returned } from './decorators/workflow-types.js';
