import type { WorkflowError } from '../../formats/builder/errors.js';
import type { SchemaFault } from '../../formats/json-schema/pattern-faults.js';
import { texts as toolTexts } from './composite/texts.js';
import { texts } from './texts.js';

/** A fault in what a server is made of, as a program can tell it apart: one class for each cause. */
export abstract class RegistrationProblem extends Error {
  /** The same for every fault of its class. */
  abstract readonly code: string;
}

/** What stops a server from starting: a fault inside of one workflow, or one in how the parts go together. */
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
    super(list === 'workflows' ? texts.notBuilt(index, found) : texts.notPlainPrompt(index, found));
  }
}

/** A name that two of the workflows and prompts have, which share the names of `prompts/get`. */
export class NameTakenError extends RegistrationProblem {
  override readonly name = 'NameTakenError';
  readonly code = 'E_NAME_TAKEN';

  /** @param owners what has the name, in words: the one that had it first, and the one that is refused. */
  constructor(
    readonly taken: string,
    readonly owners: readonly [first: string, second: string],
  ) {
    super(texts.nameTaken(taken, ...owners));
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
        taken: toolTexts.nameTaken(workflow, tool),
        unfit: toolTexts.nameUnfit(workflow, tool),
        reserved: toolTexts.runToolTaken(tool),
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
    super(texts.noFunction(workflow, functionName));
  }
}

/** A function that another one of the same name stands in for. */
export class OtherFunctionError extends RegistrationProblem {
  override readonly name = 'OtherFunctionError';
  readonly code = 'E_FUNCTION_OTHER';

  constructor(
    readonly workflow: string,
    readonly functionName: string,
  ) {
    super(texts.twoFunctions(workflow, functionName));
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
    super(toolTexts.notBundled(workflow, reason));
  }
}

/** What values are checked by: a schema of a tool, or that of an argument. */
export type SchemaOwner =
  | { readonly kind: 'tool'; readonly name: string; readonly side: 'input' | 'output' }
  | { readonly kind: 'workflow' | 'prompt'; readonly name: string; readonly argument: string };

/** A schema that no value can be checked by. */
export class UnusableSchemaError extends RegistrationProblem {
  override readonly name = 'UnusableSchemaError';
  readonly code = 'E_SCHEMA';
  /** Where in the schema, as a JSON pointer. */
  readonly pointer: string;
  /** The end of a sentence. */
  readonly reason: string;

  constructor(
    readonly owner: SchemaOwner,
    fault: SchemaFault,
  ) {
    super(
      owner.kind === 'tool'
        ? texts.toolSchema(owner.side, owner.name, fault)
        : texts.argumentSchema(owner.kind, owner.name, owner.argument, fault),
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
    readonly owner: Exclude<SchemaOwner, { readonly kind: 'tool' }>,
    readonly reason: string,
  ) {
    super(texts.argumentDefault(owner.kind, owner.name, owner.argument, reason));
  }
}
