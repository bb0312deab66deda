import type { CheckEnvironment } from '../../check/check-graph.js';
import type { SimplePrompt } from '../../decorators/prompt.js';
import { WorkflowError } from '../../formats/builder/errors.js';
import type { SchemaFault } from '../../formats/json-schema/schema-compiler.js';
import type { Graph } from '../../graph/model.js';
import { clip, oneLine } from '../../graph/printable-text.js';
import type { FunctionEntry } from '../tools/registry.js';

/** A fault in what a server is made of, as a program can tell it apart: one class for each cause. */
export abstract class RegistrationProblem extends Error {
  /** The same for every fault of its class. */
  abstract readonly code: string;
}

/** What stops a server from starting: a fault in one workflow, or between the parts of a server. */
export type StartProblem = WorkflowError | RegistrationProblem;

/** An item of `workflows` or `prompts` that is something else. */
export class NotRegistrableError extends RegistrationProblem {
  override readonly name = 'NotRegistrableError';
  readonly code = 'E_NOT_REGISTRABLE';

  /** @param found what is there instead, in words. */
  constructor(
    readonly list: 'workflows' | 'prompts',
    readonly index: number,
    readonly found: string,
  ) {
    super(
      list === 'workflows'
        ? `workflows[${index}] is ${found}, not a built workflow: make it with build() of stepwright/builder`
        : `prompts[${index}] is ${found}, not a plain prompt: make it with simplePrompt(name, handler)`,
    );
  }
}

/** A name that two of the workflows and prompts have, which share the names of `prompts/get`. */
export class NameTakenError extends RegistrationProblem {
  override readonly name = 'NameTakenError';
  readonly code = 'E_NAME_TAKEN';

  /**
   * @param holders what has the name, in words: the one that had it first, and the one that is refused.
   * @param file the spec file of the workflow that is refused, if it is of one.
   */
  constructor(
    readonly taken: string,
    readonly holders: readonly [first: string, second: string],
    readonly file?: string,
  ) {
    const [first, second] = holders;
    super(
      `${second} is named \`${clip(taken)}\`, as ${first} is: prompts and workflows share their names. Rename one of them` +
        (file === undefined
          ? ''
          : ', or leave out the file if codegen has read it for the registry (`specs` of the configuration)'),
    );
  }
}

/** A tool that cannot have its name: it is another tool's, or no host takes it. */
export class ToolNameError extends RegistrationProblem {
  override readonly name = 'ToolNameError';
  readonly code = 'E_TOOL_NAME';
  readonly tool: string;
  readonly reason: 'taken' | 'unfit' | 'reserved';
  /** The workflow whose tool it is; missing for a tool of the registry. */
  declare readonly workflow?: string;

  constructor({ tool, reason, workflow = '' }: Pick<ToolNameError, 'tool' | 'reason' | 'workflow'>) {
    super(
      {
        taken: `workflow \`${clip(workflow)}\`: E_TOOL_NAME: its tool would have the name of another tool, \`${clip(tool)}\`: rename one of them`,
        unfit: `workflow \`${clip(workflow)}\`: E_TOOL_NAME: \`${clip(tool)}\` is not a valid tool name: use at most 64 characters of A-Z, a-z, 0-9, _ and -`,
        reserved: `tool \`${tool}\`: E_TOOL_NAME: a server with workflows that are tools or can wait has its own tool of this name: rename yours`,
      }[reason],
    );
    this.tool = tool;
    this.reason = reason;
    if (workflow !== '') this.workflow = workflow;
  }
}

/** A function that a workflow names, and that neither the registry nor the workflow has. */
export class MissingFunctionError extends RegistrationProblem {
  override readonly name = 'MissingFunctionError';
  readonly code = 'E_FUNCTION_UNKNOWN';

  constructor(
    readonly workflow: string,
    readonly functionName: string,
  ) {
    super(
      `workflow \`${clip(workflow)}\`: it names the function \`${clip(functionName)}\`, which neither the registry nor the workflow has`,
    );
  }
}

/** A function that differs from the registered one of the same name. */
export class OtherFunctionError extends RegistrationProblem {
  override readonly name = 'OtherFunctionError';
  readonly code = 'E_FUNCTION_OTHER';

  constructor(
    readonly workflow: string,
    readonly functionName: string,
  ) {
    super(
      `workflow \`${clip(workflow)}\`: it names the function \`${clip(functionName)}\`, but another function of that name is registered`,
    );
  }
}

/** Workflows that run each other too deep, or one that is not there. */
export class NestedWorkflowError extends RegistrationProblem {
  override readonly name = 'NestedWorkflowError';
  readonly code = 'E_NESTED_WORKFLOW';

  constructor(
    readonly workflow: string,
    readonly reason: string,
  ) {
    super(`workflow \`${clip(workflow)}\`: ${clip(reason)}`);
  }
}

/** The schema of an argument of a built workflow. */
export interface SchemaRef {
  readonly kind: 'workflow';
  readonly name: string;
  readonly argument: string;
}

/** A schema of a tool of the registry. */
export interface ToolSchemaRef {
  readonly kind: 'tool';
  readonly name: string;
  readonly side: 'inputSchema' | 'outputSchema';
}

/** A schema that no value can be checked by, or that clients refuse in the list of tools. */
export class UnusableSchemaError extends RegistrationProblem {
  override readonly name = 'UnusableSchemaError';
  readonly code = 'E_SCHEMA';
  /** Where in the schema, as a JSON pointer. */
  readonly pointer: string;
  /** The end of a sentence. */
  readonly reason: string;

  constructor(
    readonly schema: SchemaRef | ToolSchemaRef,
    fault: SchemaFault,
  ) {
    super(
      schema.kind === 'tool'
        ? `tool \`${clip(schema.name)}\`: its \`${schema.side}\`${inPlace(fault.pointer)} ${oneLine(fault.problem)}`
        : `${schema.kind} \`${clip(schema.name)}\`: the schema of argument \`${clip(schema.argument)}\`${inPlace(fault.pointer)} ${oneLine(fault.problem)}`,
    );
    this.pointer = fault.pointer;
    this.reason = fault.problem;
  }
}

/** The default of an argument that its own schema refuses. */
export class DefaultMismatchError extends RegistrationProblem {
  override readonly name = 'DefaultMismatchError';
  readonly code = 'E_DEFAULT';

  constructor(
    readonly schema: SchemaRef,
    readonly reason: string,
  ) {
    super(
      `${schema.kind} \`${clip(schema.name)}\`: the default of argument \`${clip(schema.argument)}\` does not fit: ${reason}`,
    );
  }
}

/** A workflow that a program has made, rather than codegen. */
export interface BuiltWorkflow {
  readonly graph: Graph;
  /** Other versions of it, which `start_workflow` starts by their version. */
  readonly earlier?: readonly Graph[];
  /** The functions its graph names, by name. */
  readonly functions?: ReadonlyMap<string, FunctionEntry>;
  /**
   * Checks it against what is registered beside it, and gives the graph to run. Without it the graph is checked as it
   * is.
   */
  checkAgainst?(registered: RegisteredParts): CheckedWorkflow;
}

/** What a built workflow is checked against. */
export interface RegisteredParts extends CheckEnvironment {
  readonly functions: ReadonlyMap<string, FunctionEntry>;
}

/** How checking a built workflow ended. */
export type CheckedWorkflow =
  | {
      readonly ok: true;
      readonly graph: Graph;
      readonly functions: ReadonlyMap<string, FunctionEntry>;
      readonly warnings: readonly Finding[];
    }
  | { readonly ok: false; readonly problems: readonly Finding[] };

/** A fault of a workflow, as a server reports it. */
export interface Finding {
  readonly code: string;
  readonly message: string;
}

/** What a program registers beside the generated registry. */
export interface Registrations {
  readonly workflows: readonly BuiltWorkflow[];
  readonly prompts: readonly SimplePrompt[];
}

/** Thrown when what a program registers does not go with the registry; lists every fault of all of it. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';

  /** @param problems one error for each fault, which a program can tell apart by its class. */
  constructor(readonly problems: readonly StartProblem[]) {
    super(
      `the server cannot start:\n${problems
        .map(sentence)
        .map((problem) => `  - ${problem}`)
        .join('\n')}`,
    );
  }
}

/** A workflow whose runs are tasks, in a server that keeps no runs. */
export class TaskStoreError extends RegistrationProblem {
  override readonly name = 'TaskStoreError';
  readonly code = 'E_TASK_STORE';

  constructor(readonly workflow: string) {
    super(
      `workflow \`${clip(workflow)}\`: its runs are tasks, and the server keeps no runs: set store: 'memory' or store: 'sqlite:PATH'`,
    );
  }
}

/** What is wrong, where it keeps a change from being used and not a server from starting. */
export function registrationFaults({ problems }: RegistrationError): string {
  return problems.map(sentence).join('\n');
}

function sentence(problem: StartProblem): string {
  if (!(problem instanceof WorkflowError)) return problem.message;
  return workflowFault(problem.workflow ?? '', problem);
}

/** A fault or a warning of a built workflow, as a sentence. */
export function workflowFault(workflow: string, { code, message }: Finding): string {
  return `workflow \`${clip(workflow)}\`: ${code}: ${oneLine(message)}`;
}

function inPlace(pointer: string): string {
  return pointer === '' ? '' : ` at \`${clip(pointer)}\``;
}
