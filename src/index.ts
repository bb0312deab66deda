import 'reflect-metadata';

export {
  type Answerer,
  type OwnerAnswerer,
  owner,
  type RoleAnswerer,
  type RoleOptions,
  role,
} from './decorators/answerers.js';
export {
  Arg,
  type ArgMark,
  type ArgOptions,
  type ArgsOf,
  type JsonTypeName,
  type ValueRules,
} from './decorators/arg.js';
export type {
  BooleanField,
  ChoicesField,
  ClientInfo,
  ElicitAnswer,
  ElicitForm,
  Form,
  FormField,
  FormValues,
  LogLevel,
  NumberField,
  Root,
  SamplingMessage,
  SamplingRequest,
  SamplingResult,
  TextField,
} from './decorators/client.js';
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
export { WorkflowNotRunnableError } from './decorators/decorate.js';
export type { Icon, ListedOptions } from './decorators/listed.js';
export type { OrderOptions } from './decorators/order.js';
export {
  type AudioContent,
  assistant,
  audio,
  type EmbeddedResource,
  type Handle,
  type ImageContent,
  image,
  Prompt,
  type PromptClass,
  type PromptContent,
  type PromptMessage,
  type PromptMessages,
  type PromptOptions,
  type PromptPart,
  type PromptRole,
  PromptText,
  prompt,
  type ResourceLink,
  type SimplePrompt,
  type SimplePromptArgument,
  type SimplePromptArguments,
  type SimplePromptHandler,
  simplePrompt,
  system,
  type TextContent,
  user,
} from './decorators/prompt.js';
export {
  Resource,
  type ResourceClass,
  type ResourceContent,
  type ResourceItem,
  type ResourceOptions,
  type ResourceTemplateClass,
  type VariablesOf,
} from './decorators/resource.js';
export {
  Tool,
  type ToolAnnotations,
  type ToolClass,
  type ToolHints,
  type ToolInput,
  type ToolOptions,
} from './decorators/tool.js';
export {
  attempt,
  type CallOptions,
  call,
  chain,
  done,
  errorOf,
  type FailOptions,
  fail,
  link,
  type NestedOptions,
  type ResultOf,
  type Returned,
  read,
  run,
  type StepError,
  type StepStatus,
  statusOf,
} from './decorators/verbs.js';
export {
  type ErrorStrategyOption,
  get,
  type RetryOptions,
  State,
  type StateClass,
  type StateOptions,
  Step,
  type StepOptions,
  set,
  Workflow,
  type WorkflowClass,
  type WorkflowOptions,
} from './decorators/workflow.js';
export type { Json } from './graph/json.js';
