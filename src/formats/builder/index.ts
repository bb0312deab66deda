export type { RetryOptions } from '../../decorators/workflow.js';
export type { Expr } from '../../graph/expression/tree.js';
export type { Compiled, CompileResult, Workflow } from './builders.js';
export { type BuildResult, type SequentialBuilder, sequential } from './builders.js';
export type {
  AgentLike,
  ArgumentOptions,
  DelegateTaskOptions,
  ResultValue,
  ShellCommandOptions,
  WorkflowDetails,
} from './definition.js';
export { collect, failFast, retry, type StrategyOptions } from './definition.js';
export {
  CircularDependencyError,
  DuplicateNameError,
  InvalidMappingError,
  InvalidNameError,
  InvalidOptionError,
  InvalidUriError,
  MissingFieldError,
  MissingResourceError,
  MissingToolError,
  OtherWorkflowError,
  OutputFieldNotFoundError,
  UnknownBindingError,
  WorkflowBuildError,
  WorkflowError,
} from './errors.js';
export { type NamedFunction, output, type Transform } from './expressions.js';
export {
  type ArgName,
  arg,
  type BindingName,
  binding,
  type FieldPath,
  field,
  type Naming,
  type Path,
  type StepName,
  stepName,
  type ToolName,
  toolName,
  type Uri,
  uri,
} from './names.js';
export * as dsl from './sources.js';
export {
  type ArgumentSource,
  computed,
  constant,
  type DataSource,
  fromModel,
  fromResource,
  fromStep,
  linkTo,
  type ModelSource,
  promptArg,
  text,
} from './sources.js';
export {
  type AskBuilder,
  ask,
  type DelegateBuilder,
  delegate,
  type ReadBuilder,
  readStep,
  type ShellBuilder,
  type StepBuilder,
  shell,
  step,
} from './steps.js';
export {
  type FunctionEntry,
  type Registered,
  type ResourceHandle,
  type ResourceLike,
  registeredIn,
  resourceHandle,
  type TemplateLike,
  type ToolHandle,
  type ToolLike,
  toolHandle,
} from './tools-and-resources.js';
