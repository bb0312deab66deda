import 'reflect-metadata/lite';

export type { AuthInfo, Owner, Principal, ToolContext } from '../decorators/context.js';
export type { Json, JsonObject, JsonSchema } from '../graph/json.js';
export type { Graph } from '../graph/model.js';
export type { PlanningHints } from '../infer/tool.js';
export type { Change, Event as RunEvent, Failure, RunState } from './engine/contract.js';
export { dueTimeOf } from './engine/rows.js';
export {
  type AttachedFactory,
  type AttachOptions,
  attach,
  type ChangeBus,
  type ServerFactory,
} from './protocol/sdk1/attach.js';
export { connect, fetchHandler, serve, serveHttp } from './protocol/sdk1/serve.js';
export { type UpstreamOptions, upstreamServers } from './protocol/upstream/upstream-servers.js';
export type { ModelFunction, ModelRequest } from './runs/actions/model-values.js';
export {
  isReservedKey,
  WORKFLOW_EXTRA_PREFIX,
  WORKFLOW_PREFIX,
  workflowExtraKey,
} from './runs/actions/run-variables.js';
export type { RequestContext } from './runs/request.js';
export {
  type Caller,
  type OwnerRule,
  ownerKey,
  ownerOf,
  UnidentifiedCallerError,
} from './runs/run/owner.js';
export type { RunLimits } from './runs/run-store.js';
export {
  type ConsumedItem,
  type DueTimer,
  type HostRow,
  type InboxItem,
  type Journal,
  JournalConflictError,
  type JournalEntry,
  JournalFailedError,
  type Leases,
  type LoadedRun,
  type OpenRun,
  type Row,
  type RunHead,
  UnknownRunError,
} from './runs/store/journal.js';
export { type JournaledRun, MemoryJournal } from './runs/store/memory-journal.js';
export { StoreError, type StoreProblem } from './runs/store/store-error.js';
export { type LifecycleHooks, ServerStartError } from './server/lifecycle.js';
export type {
  CacheSettings,
  Profile,
  RemoteSpecs,
  ServerOptions,
  ServerSettings,
  SpecSettings,
  SpecSources,
} from './server/options.js';
export {
  type DrainOnSignalsOptions,
  drainOnSignals,
  type GuardOptions,
  guardProcess,
} from './server/process.js';
export {
  type BuiltWorkflow,
  type CheckedWorkflow,
  DefaultMismatchError,
  MissingFunctionError,
  NameTakenError,
  NestedWorkflowError,
  NotRegistrableError,
  OtherFunctionError,
  RegistrationError,
  RegistrationProblem,
  type SchemaRef,
  type StartProblem,
  TaskStoreError,
  ToolNameError,
  type ToolSchemaRef,
  UnusableSchemaError,
} from './server/registrations.js';
export { createServer } from './server/server.js';
export { SpecError, type SpecErrorCode } from './server/specs/url-rules.js';
export type {
  CompletionSubject,
  ServerInfo,
  ServerOf,
  StepwrightServer,
  ViewSelection,
  WorkflowArguments,
  WorkflowResultOf,
} from './server/stepwright-server.js';
export {
  getNumber,
  getString,
  getTyped,
  progressVariable,
  readProgress,
  TaskVariableError,
  WORKFLOW_PAUSE_REASON_KEY,
  WORKFLOW_PROGRESS_KEY,
  WORKFLOW_RESULT_PREFIX,
  WORKFLOW_SCHEMA_VERSION,
  type WorkflowProgress,
  type WorkflowStepProgress,
  type WorkflowStepStatus,
  workflowResultKey,
} from './server/tasks/progress.js';
export {
  type StoredTask,
  type TaskCall,
  type TaskContinuation,
  type TaskPage,
  TaskRouter,
  type TaskState,
} from './server/tasks/task-router.js';
export { RestCall, type RestRequest } from './server/tool-factories/rest-call.js';
export { SqlQuery, type SqlQueryOptions } from './server/tool-factories/sql-query.js';
export type {
  CompletionResult,
  ContentBlock,
  PromptArgumentListing,
  PromptListing,
  PromptResult,
  ResourceContents,
  ResourceListing,
  ResourceTemplateListing,
  ToolListing,
  ToolResult,
  UserQuestion,
} from './server/wire.js';
export { faultCodes, ProtocolFault } from './server/wire.js';
export type { CreateInstance, InstanceContext, InstanceOptions, InstanceScope } from './tools/instances.js';
export {
  type Factories,
  FactoriesError,
  type PromptFactories,
  type ResourceFactories,
  type ToolFactories,
} from './tools/instances.js';
export type { LogEvent, LogFunction, LogRecord, RecordLevel } from './tools/log.js';
export type {
  ChangedRequest,
  Middleware,
  MiddlewareCall,
  MiddlewareResponse,
  PromptRequest,
  ReadRequest,
  RequestEnd,
} from './tools/middleware.js';
export { type CallOrigin, type Elicit, type Elicited, type Peer, runRef } from './tools/port.js';
export {
  type AnyClass,
  defineRegistry,
  emptyRegistry,
  type FunctionEntry,
  graphJson,
  type PromptEntry,
  REGISTRY_VERSION,
  type Registry,
  type ResourceEntry,
  StaleRegistryError,
  schemaJson,
  type ToolEntry,
  type TypedGraph,
  type WorkflowEntry,
} from './tools/registry.js';
export type { Telemetry } from './tools/telemetry.js';
export type { PromptMessage, PromptTrace, TaskStatus, TraceMeta } from './trace/messages.js';
export type { BearerAuth, VerifiedToken } from './transports/http/bearer-auth.js';
export type { HttpHandler, RequestSource } from './transports/http/endpoint.js';
export {
  type HostValidationOptions,
  type HttpHeaders,
  type HttpRefusal,
  hostValidation,
} from './transports/http/host-validation.js';
export type { HttpLimits, HttpSettings, TrustProxy } from './transports/http/http-options.js';
export { type ListenSettings, nodeHandler, type RunningHttpServer } from './transports/http/serve-http.js';
export type { ClientHeaders, HeaderCaller, HeaderRule } from './transports/http/spec-headers.js';
export type { Connection, ConnectOptions, ServerTransport } from './transports/protocol-adapter.js';
export type { RunningServer } from './transports/stdio/stdio-transport.js';
export type {
  HttpUpstream,
  ModuleUpstream,
  RestService,
  StdioUpstream,
  UpstreamConfig,
} from './upstream/config.js';
export { type AttachableServer, AttachError, importTools } from './upstream/import-tools.js';
export {
  type UpstreamCall,
  UpstreamError,
  type UpstreamListing,
  type UpstreamPort,
  type UpstreamReference,
  type UpstreamResult,
  type UpstreamTool,
} from './upstream/port.js';
