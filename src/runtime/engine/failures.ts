import type { Failure } from './contract.js';

/** Every failure the engine itself can cause, in one place. Failures of tools and expressions pass through as they came. */
export const failures = {
  /** An attempt had no answer in time. */
  timeout: (limitMs: number): Failure => ({
    code: 'E_TIMEOUT',
    message: `No answer came within ${limitMs} ms.`,
    outcomeUnknown: true,
  }),
  /** The run's deadline cut an attempt short. */
  deadline: (): Failure => ({
    code: 'E_DEADLINE',
    message: "The run's time was up before an answer came.",
    outcomeUnknown: true,
  }),
  /** The run's deadline had passed before the attempt could start. */
  deadlinePassed: (): Failure => ({
    code: 'E_DEADLINE',
    message: "The run's time was up before this step could start.",
  }),
  /** The run's deadline comes before a further attempt could start: how the attempt before failed is not lost. */
  deadlineBeforeRetry: (last: Failure): Failure => ({
    code: 'E_DEADLINE',
    message: `The run's time is up before another attempt can start; the last one failed: ${last.message}`,
    ...(last.outcomeUnknown === undefined ? {} : { outcomeUnknown: last.outcomeUnknown }),
  }),
  /** A function had no answer in time. It has no effect that could be unknown. */
  evaluationTimeout: (limitMs: number): Failure => ({
    code: 'E_TIMEOUT',
    message: `The function gave no value within ${limitMs} ms.`,
  }),
  /** The run's deadline came before a function's answer. */
  evaluationDeadline: (): Failure => ({
    code: 'E_DEADLINE',
    message: "The run's time was up before the function gave a value.",
  }),
  /** A node failed, and so did the expression that was to stand in for its value. */
  fallback: (failure: Failure, fault: Failure): Failure => ({
    ...failure,
    message: `${failure.message} (its fallback has no value either: ${fault.message})`,
  }),
  /** The run was cancelled from outside. */
  cancelled: (reason: string): Failure => ({
    code: 'E_CANCELLED',
    message: `The run was cancelled: ${reason}`,
  }),
  /** The run was cancelled while this call was in flight. */
  cancelledInFlight: (reason: string): Failure => ({ ...failures.cancelled(reason), outcomeUnknown: true }),
  /** A URI or a message is not text. */
  notText: (what: string, found: string): Failure => ({
    code: 'E_NOT_TEXT',
    message: `The ${what} must be text, not ${found}.`,
  }),
  /** The input of a call is not an object. */
  notObject: (what: string, found: string): Failure => ({
    code: 'E_NOT_OBJECT',
    message: `The ${what} must be an object, not ${found}.`,
  }),
  /** What should be the arguments of a function is no list. */
  notList: (what: string, found: string): Failure => ({
    code: 'E_NOT_LIST',
    message: `The ${what} must be a list, not ${found}.`,
  }),
  /** The graph has a node of a kind this engine does not run. */
  nodeKind: (node: string, kind: string): Failure => ({
    code: 'E_NODE_KIND',
    message: `Node '${node}' is of kind '${kind}', which this version cannot run.`,
  }),
  /** The graph asks for a behaviour this engine does not have; running without it would mean something else. */
  unsupported: (where: string, option: string): Failure => ({
    code: 'E_UNSUPPORTED',
    message: `${where} uses '${option}', which this version cannot run.`,
  }),
  /** A node whose failure cannot be handled says how to. */
  onError: (node: string, kind: string): Failure => ({
    code: 'E_ON_ERROR_TYPE',
    message: `Node '${node}' is of kind '${kind}', whose failure has no fallback: it is how the workflow ends.`,
  }),
  /** Two nodes of one scope share an id. */
  duplicateNode: (node: string): Failure => ({
    code: 'E_GRAPH',
    message: `The graph has two nodes named '${node}'.`,
  }),
  /** A node waits for one that is not there. */
  unknownNode: (node: string, target: string): Failure => ({
    code: 'E_GRAPH',
    message: `Node '${node}' waits for '${target}', which the graph does not have.`,
  }),
  /** Nodes wait for each other. */
  cycle: (nodes: readonly string[]): Failure => ({
    code: 'E_GRAPH',
    message: `These nodes wait for each other: ${nodes.join(', ')}.`,
  }),
} as const;
