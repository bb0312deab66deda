import 'reflect-metadata';

export { Arg, type ArgMark, type ArgOptions } from './decorators/arg.js';
export type { JsonTypeName, ValueRules } from './decorators/arg-rules.js';
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
export * from './decorators/control-flow.js';
export type {
  Duration,
  FailedBranch,
  ItemFailure,
  Moment,
  PartialFailure,
  Span,
} from './decorators/control-flow-types.js';
export { WorkflowNotRunnableError } from './decorators/faults.js';
export type { NestedOptions } from './decorators/nested-options.js';
export { Prompt, type PromptClass, type PromptOptions } from './decorators/prompt.js';
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
  type PromptRole,
  type ResourceLink,
  system,
  type TextContent,
  user,
} from './decorators/prompt-content.js';
export { type PromptPart, PromptText, prompt } from './decorators/prompt-text.js';
export { Resource, type ResourceOptions } from './decorators/resource.js';
export type { ResourceClass, ResourceContent, ResourceTemplateClass } from './decorators/resource-types.js';
export type { RetryOptions } from './decorators/retry.js';
export { run } from './decorators/run.js';
export {
  type SimplePrompt,
  type SimplePromptArgument,
  type SimplePromptArguments,
  type SimplePromptHandler,
  simplePrompt,
} from './decorators/simple-prompt.js';
export { get, State, type StateClass, type StateOptions, set } from './decorators/state.js';
export { Step, type StepOptions } from './decorators/step.js';
export {
  type Icon,
  Tool,
  type ToolAnnotations,
  type ToolClass,
  type ToolHints,
  type ToolOptions,
} from './decorators/tool.js';
export type { ToolInput } from './decorators/tool-input.js';
export type { VariablesOf } from './decorators/uri-template.js';
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
  type StepError,
} from './decorators/verbs.js';
export {
  type ErrorStrategyOption,
  Workflow,
  type WorkflowClass,
  type WorkflowOptions,
} from './decorators/workflow.js';
export type { ArgsOf, ResultOf, Returned } from './decorators/workflow-types.js';
