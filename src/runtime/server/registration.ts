import { type CheckEnvironment, checkGraph } from '../../check/check-graph.js';
import type { SimplePrompt } from '../../decorators/prompt.js';
import { graphErrors } from '../../formats/builder/diagnostic-errors.js';
import { OtherWorkflowError, WorkflowError, within } from '../../formats/builder/errors.js';
import { SchemaCompiler, type SchemaFault } from '../../formats/json-schema/schema-compiler.js';
import { hashGraph } from '../../graph/canonical.js';
import type { Diagnostic, DiagnosticCode } from '../../graph/diagnostics/diagnostic.js';
import { isJsonObject, type JsonSchema } from '../../graph/json.js';
import type { Graph } from '../../graph/model.js';
import { isPortableName } from '../../graph/names.js';
import { nodesOf } from '../../graph/nodes.js';
import { parseGraph } from '../../graph/schema/parse-graph.js';
import { formatLocation } from '../../graph/source-location.js';
import { planOf } from '../../plan/compile.js';
import { workflowToolTexts } from '../runs/run-texts.js';
import { schemaProblems } from '../tools/check-input.js';
import { clientToolNames, type FunctionEntry, type Registry, type ToolEntry } from '../tools/registry.js';
import { listedSchemaFaults } from './listed-schemas.js';
import type { RunnableWorkflow } from './listings.js';
import { kindOf } from './prompt-arguments.js';
import { serverTexts } from './server-texts.js';

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
      list === 'workflows' ? serverTexts.notBuilt(index, found) : serverTexts.notPlainPrompt(index, found),
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
    super(serverTexts.nameTaken(taken, ...holders, file));
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
        taken: workflowToolTexts.nameTaken(workflow, tool),
        unfit: workflowToolTexts.nameUnfit(workflow, tool),
        reserved: workflowToolTexts.runToolTaken(tool),
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
    super(serverTexts.noFunction(workflow, functionName));
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
    super(serverTexts.twoFunctions(workflow, functionName));
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
    super(workflowToolTexts.notBundled(workflow, reason));
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
        ? serverTexts.toolSchema(schema.name, schema.side, fault)
        : serverTexts.argumentSchema(schema.kind, schema.name, schema.argument, fault),
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
    super(serverTexts.argumentDefault(schema.kind, schema.name, schema.argument, reason));
  }
}

/** A workflow that a program has made, rather than codegen. */
export interface BuiltWorkflow {
  readonly graph: Graph;
  /** The functions its graph names, by name. */
  readonly functions?: ReadonlyMap<string, FunctionEntry>;
  /**
   * Checks it against what is registered beside it, and gives the graph to run. Without it the graph is checked as it
   * is.
   */
  checkAgainst?(registered: RegisteredParts): CheckedWorkflow;
}

/** What a built workflow is checked against. */
interface RegisteredParts extends CheckEnvironment {
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
interface Finding {
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
    super(serverTexts.registrationRefused(problems.map(sentence)));
  }
}

/** What is wrong, where it keeps a change from being used and not a server from starting. */
export function registrationFaults({ problems }: RegistrationError): string {
  return problems.map(sentence).join('\n');
}

function sentence(problem: StartProblem): string {
  if (!(problem instanceof WorkflowError)) return problem.message;
  return serverTexts.workflowFault(problem.workflow ?? '', problem);
}

/** What was registered, checked. */
export interface Registered {
  readonly workflows: readonly RunnableWorkflow[];
  /** Those of the registry and those of built workflows. */
  readonly functions: Readonly<Record<string, FunctionEntry>>;
  /** What is not wrong, but looks like a mistake; one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Checks built workflows against the tools, resources and functions of a registry, with the schemas of their arguments,
 * the schemas of tools, and every name against all others.
 *
 * @throws RegistrationError with all faults at once.
 */
export function register(
  registry: Registry,
  registrations: Registrations,
  schemas: SchemaCompiler = new SchemaCompiler(),
): Registered {
  const misfits = misfitsOf(registrations);
  const workflows = registrations.workflows.filter(isBuiltWorkflow);
  const prompts = registrations.prompts.filter(isPlainPrompt);
  const functions = new Map(Object.entries(registry.functions ?? {}));
  const registered = partsOf(registry, workflows);
  const problems: StartProblem[] = [
    ...misfits,
    ...toolSchemaProblems(registry),
    ...nameProblems(registry, workflows, prompts),
  ];
  const warnings = prompts
    .filter(({ name }) => !isPortableName(name))
    .map(({ name }) => serverTexts.unportablePrompt(name));
  const runnable: RunnableWorkflow[] = [];
  for (const workflow of workflows) {
    const { name } = workflow.graph;
    const checked = check(workflow, registered);
    if (!checked.ok) {
      problems.push(...checked.problems.map((finding) => errorOf(finding, name)));
      continue;
    }
    warnings.push(...checked.warnings.map((finding) => serverTexts.workflowFault(name, finding)));
    const hash = hashGraph(checked.graph);
    // A program may build its workflows again for each server: servers share the plans of equal graphs.
    planOf(checked.graph, hash);
    runnable.push({ graph: checked.graph, hash });
    for (const [functionName, entry] of checked.functions) {
      if (!functions.has(functionName)) functions.set(functionName, entry);
    }
    problems.push(...functionProblems(checked, functions));
  }
  problems.push(...runnable.flatMap(({ graph }) => argumentFaults(graph, schemas)));
  if (problems.length > 0) throw new RegistrationError(problems);
  return { workflows: runnable, functions: Object.fromEntries(functions), warnings };
}

/** Schemas of tools that clients refuse. Codegen writes none; a registry that is made by hand may have them. */
function toolSchemaProblems(registry: Registry): UnusableSchemaError[] {
  return clientToolNames(registry).flatMap((name) => {
    const { inputSchema, outputSchema } = registry.tools[name] as ToolEntry;
    const faultsOf = (side: ToolSchemaRef['side'], schema: JsonSchema) =>
      listedSchemaFaults(schema).map((fault) => new UnusableSchemaError({ kind: 'tool', name, side }, fault));
    return [
      ...faultsOf('inputSchema', inputSchema),
      ...(outputSchema === undefined ? [] : faultsOf('outputSchema', outputSchema)),
    ];
  });
}

/** What programs in JavaScript register that is nothing of the kind. */
function misfitsOf({ workflows, prompts }: Registrations): NotRegistrableError[] {
  const misfits = (name: keyof Registrations, list: readonly unknown[], fits: (item: unknown) => boolean) =>
    list.flatMap((item, index) => (fits(item) ? [] : [new NotRegistrableError(name, index, kindOf(item))]));
  return [...misfits('workflows', workflows, isBuiltWorkflow), ...misfits('prompts', prompts, isPlainPrompt)];
}

/** A workflow that checks itself may say what is wrong in other words than the builder's. */
function errorOf(finding: Finding, workflow: string): WorkflowError {
  if (finding instanceof WorkflowError) return finding;
  const { message, code } = finding;
  return within(workflow, new OtherWorkflowError(message, code as DiagnosticCode, { cause: finding }));
}

function isBuiltWorkflow(given: unknown): given is BuiltWorkflow {
  if (typeof given !== 'object' || given === null) return false;
  const { graph } = given as { readonly graph?: unknown };
  return isJsonObject(graph) && typeof graph.name === 'string';
}

function isPlainPrompt(given: unknown): given is SimplePrompt {
  if (typeof given !== 'object' || given === null) return false;
  const { name, handler, arguments: declared } = given as Partial<SimplePrompt>;
  return typeof name === 'string' && typeof handler === 'function' && Array.isArray(declared);
}

/** What graphs are checked against. */
function partsOf(registry: Registry, built: readonly BuiltWorkflow[]): RegisteredParts {
  const { tools, resources, functions = {} } = registry;
  const graphs = Object.values(registry.workflows).map(({ graph }) => graph);
  for (const { graph } of built) {
    const parsed = parseGraph(graph);
    if (parsed.ok) graphs.push(parsed.graph);
  }
  return {
    workflows: new Map(graphs.map((graph) => [graph.name, graph])),
    tools: new Map(Object.entries(tools)),
    resources: new Map(Object.entries(resources)),
    functions: new Map(Object.entries(functions)),
  };
}

function check(workflow: BuiltWorkflow, registered: RegisteredParts): CheckedWorkflow {
  if (workflow.checkAgainst !== undefined) return workflow.checkAgainst(registered);
  const { graph, functions = new Map() } = workflow;
  const parsed = parseGraph(graph);
  const found = parsed.ok ? checkGraph(parsed.graph, registered) : parsed.diagnostics;
  const faults = found.filter(({ severity }) => severity === 'error');
  if (!parsed.ok || faults.length > 0) {
    return {
      ok: false,
      problems: graphErrors(parsed.ok ? parsed.graph : NO_GRAPH(graph.name), registered, faults),
    };
  }
  return { ok: true, graph: parsed.graph, functions, warnings: found.map(withHint) };
}

/** Replaces a value that is not a graph while its faults are read. */
const NO_GRAPH = (name: string): Graph => ({
  graphVersion: 1,
  name,
  description: '',
  inputs: [],
  instructions: [],
  nodes: [],
});

function withHint({ code, message, hint }: Diagnostic): Finding {
  return { code, message: hint === undefined ? message : `${message} (${hint})` };
}

function functionProblems(
  { graph, functions: own }: Pick<Extract<CheckedWorkflow, { ok: true }>, 'graph' | 'functions'>,
  functions: ReadonlyMap<string, FunctionEntry>,
): StartProblem[] {
  const problems = new Map<string, StartProblem>();
  for (const node of [graph, ...(graph.tasks ?? [])].flatMap(nodesOf)) {
    if (node.kind !== 'compute' || node.function === undefined) continue;
    const entry = functions.get(node.function.name);
    const { name } = node.function;
    if (entry === undefined) problems.set(name, new MissingFunctionError(graph.name, name));
    // Functions of one source may close over different values.
    const brought = own.get(node.function.name) ?? entry;
    if (entry !== undefined && (entry.hash !== node.function.hash || entry.function !== brought?.function))
      problems.set(name, new OtherFunctionError(graph.name, name));
  }
  return [...problems.values()];
}

/** What a workflow is beside those of the registry: that of a spec file is named by its place. */
function holderOf({ source }: Graph): { readonly kind: string; readonly file?: string } {
  // Documents have pointers, source code has none.
  if (source?.pointer === undefined) return { kind: serverTexts.kinds.builtWorkflow };
  return { kind: serverTexts.kinds.specWorkflow(formatLocation(source)), file: source.file };
}

/** Prompts and workflows share one space of names: that of `prompts/get`. */
function nameProblems(
  registry: Registry,
  workflows: readonly BuiltWorkflow[],
  prompts: readonly SimplePrompt[],
): NameTakenError[] {
  const { kinds } = serverTexts;
  const named: { readonly name: string; readonly kind: string; readonly file?: string | undefined }[] = [
    ...Object.entries(registry.workflows).map(([name, entry]) => ({
      name,
      kind: entry.class === undefined ? kinds.codegenSpec : kinds.workflow,
    })),
    ...Object.keys(registry.prompts ?? {}).map((name) => ({ name, kind: kinds.prompt })),
    ...workflows.map(({ graph }) => ({ name: graph.name, ...holderOf(graph) })),
    ...prompts.map(({ name }) => ({ name, kind: kinds.plainPrompt })),
  ];
  const first = new Map<string, string>();
  return named.flatMap(({ name, kind, file }) => {
    const other = first.get(name);
    if (other === undefined) first.set(name, kind);
    return other === undefined ? [] : [new NameTakenError(name, [other, kind], file)];
  });
}

/**
 * Faults of the schemas and defaults of a built workflow's arguments. Codegen has checked those of the registry, and the
 * checksum shows that they are the same: they are compiled on first use, since a start would wait for all of them.
 */
function argumentFaults({ name: workflow, inputs }: Graph, schemas: SchemaCompiler): RegistrationProblem[] {
  return inputs.flatMap(({ name, schema, default: defaultValue }): RegistrationProblem[] => {
    const argument = { kind: 'workflow', name: workflow, argument: name } as const;
    const faults = schemas.faults(schema);
    if (faults.length > 0 || defaultValue === undefined) {
      return faults.map((fault) => new UnusableSchemaError(argument, fault));
    }
    return schemaProblems(schemas.check(schema, defaultValue), schema).map(
      ({ message }) => new DefaultMismatchError(argument, message),
    );
  });
}
