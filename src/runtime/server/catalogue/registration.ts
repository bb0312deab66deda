import { checkGraph } from '../../../check/check-graph.js';
import { environmentOf, GraphMemo, oncePerGraph } from '../../../check/environment.js';
import type { SimplePrompt } from '../../../decorators/prompt.js';
import { graphErrors } from '../../../formats/builder/diagnostic-errors.js';
import { OtherWorkflowError, WorkflowError, within } from '../../../formats/builder/errors.js';
import { currentSchema } from '../../../formats/json-schema/dialect.js';
import {
  SchemaCompiler,
  type SchemaFault,
  valueFault,
} from '../../../formats/json-schema/schema-compiler.js';
import { hashGraph } from '../../../graph/canonical.js';
import type { Diagnostic, DiagnosticCode } from '../../../graph/diagnostics/diagnostic.js';
import { isJsonObject, type Json, type JsonSchema, pointerKey } from '../../../graph/json.js';
import type { Graph } from '../../../graph/model.js';
import { isPortableName } from '../../../graph/names.js';
import { nodesWithTasks } from '../../../graph/nodes.js';
import { clip } from '../../../graph/printable-text.js';
import { parseGraph } from '../../../graph/schema/parse-graph.js';
import { formatLocation } from '../../../graph/source-location.js';
import { planOf } from '../../../plan/compile.js';
import { clientToolNames, type FunctionEntry, type Registry, type ToolEntry } from '../../tools/registry.js';
import { schemaProblems } from '../../tools/schema-problems.js';
import { kindOf } from '../../tools/tool-texts.js';
import type { Registered, RunnableWorkflow } from '../composite/served-workflows.js';
import {
  type BuiltWorkflow,
  type CheckedWorkflow,
  DefaultMismatchError,
  type Finding,
  MissingFunctionError,
  NameTakenError,
  NotRegistrableError,
  OtherFunctionError,
  type RegisteredParts,
  RegistrationError,
  type RegistrationProblem,
  type Registrations,
  type StartProblem,
  type ToolSchemaRef,
  UnusableSchemaError,
  workflowFault,
} from '../registrations.js';

/** What is known of the workflows of one server, of which some are replaced: worked out once for each graph. */
export class RegistrationMemo {
  readonly parsed = oncePerGraph((graph) => parseGraph(graph));
  readonly hash = oncePerGraph(hashGraph);
  readonly checked = new GraphMemo<CheckedWorkflow>();
  readonly argumentFaults: (graph: Graph) => readonly RegistrationProblem[];

  constructor(schemas: SchemaCompiler) {
    this.argumentFaults = oncePerGraph((graph) => argumentFaults(graph, schemas));
  }
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
  memo = new RegistrationMemo(schemas),
): Registered {
  const misfits = misfitsOf(registrations);
  const workflows = registrations.workflows.filter(isBuiltWorkflow);
  const prompts = registrations.prompts.filter(isPlainPrompt);
  const functions = new Map(Object.entries(registry.functions ?? {}));
  const registered = partsOf(registry, workflows, memo);
  const problems: StartProblem[] = [
    ...misfits,
    ...toolSchemaProblems(registry),
    ...nameProblems(registry, workflows, prompts),
  ];
  const warnings = prompts
    .filter(({ name }) => !isPortableName(name))
    .map(
      ({ name }) =>
        `prompt \`${clip(name)}\`: some hosts refuse its name: they take at most 64 letters, digits, _ and -`,
    );
  const runnable: RunnableWorkflow[] = [];
  for (const workflow of workflows) {
    const { name } = workflow.graph;
    const checked = check(workflow, registered, memo);
    if (!checked.ok) {
      problems.push(...checked.problems.map((finding) => errorOf(finding, name)));
      continue;
    }
    warnings.push(...checked.warnings.map((finding) => workflowFault(name, finding)));
    const earlier: RunnableWorkflow[] = [];
    for (const graph of workflow.earlier ?? []) {
      const other = check({ graph }, registered, memo);
      if (other.ok) earlier.push(runnableOf(other.graph, memo));
      else problems.push(...other.problems.map((finding) => errorOf(finding, name)));
    }
    runnable.push({
      ...runnableOf(checked.graph, memo),
      ...(earlier.length === 0 ? {} : { earlier }),
    });
    for (const [functionName, entry] of checked.functions) {
      if (!functions.has(functionName)) functions.set(functionName, entry);
    }
    problems.push(...functionProblems(checked, functions));
  }
  const all = runnable.flatMap((each) => [each, ...(each.earlier ?? [])]);
  problems.push(...all.flatMap(({ graph }) => memo.argumentFaults(graph)));
  if (problems.length > 0) throw new RegistrationError(problems);
  return { workflows: runnable, functions: Object.fromEntries(functions), warnings };
}

function runnableOf(graph: Graph, memo: RegistrationMemo): RunnableWorkflow {
  const hash = memo.hash(graph);
  // A program may build its workflows again for each server: servers share the plans of equal graphs.
  planOf(graph, hash);
  return { graph, hash };
}

/** Schemas of tools that clients refuse. Codegen writes none; a registry that is made by hand may have them. */
function toolSchemaProblems(registry: Registry): UnusableSchemaError[] {
  return clientToolNames(registry).flatMap((name) => {
    const { inputSchema, outputSchema } = registry.tools[name] as ToolEntry;
    const faultsOf = (side: ToolSchemaRef['side'], schema: JsonSchema) =>
      listedSchemaFaults(isJsonObject(schema) ? currentSchema(schema) : schema).map(
        (fault) => new UnusableSchemaError({ kind: 'tool', name, side }, fault),
      );
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

function isBuiltWorkflow(item: unknown): item is BuiltWorkflow {
  if (typeof item !== 'object' || item === null) return false;
  const { graph } = item as { readonly graph?: unknown };
  return isJsonObject(graph) && typeof graph.name === 'string';
}

function isPlainPrompt(item: unknown): item is SimplePrompt {
  if (typeof item !== 'object' || item === null) return false;
  const { name, handler, arguments: declared } = item as Partial<SimplePrompt>;
  return typeof name === 'string' && typeof handler === 'function' && Array.isArray(declared);
}

/** What graphs are checked against. */
function partsOf(
  registry: Registry,
  built: readonly BuiltWorkflow[],
  memo: RegistrationMemo,
): RegisteredParts {
  const { functions = {} } = registry;
  const graphs = Object.values(registry.workflows).map(({ graph }) => graph);
  for (const { graph } of built) {
    const parsed = memo.parsed(graph);
    if (parsed.ok) graphs.push(parsed.graph);
  }
  return { ...environmentOf(registry, graphs), functions: new Map(Object.entries(functions)) };
}

function check(
  workflow: BuiltWorkflow,
  registered: RegisteredParts,
  memo: RegistrationMemo,
): CheckedWorkflow {
  if (workflow.checkAgainst !== undefined) return workflow.checkAgainst(registered);
  const { graph, functions } = workflow;
  const make = (): CheckedWorkflow => checkPlain(workflow, registered, memo);
  return functions === undefined && memo.parsed(graph).ok
    ? memo.checked.get(graph, registered, make)
    : make();
}

function checkPlain(
  { graph, functions = new Map() }: BuiltWorkflow,
  registered: RegisteredParts,
  memo: RegistrationMemo,
): CheckedWorkflow {
  const parsed = memo.parsed(graph);
  const diagnostics = parsed.ok ? checkGraph(parsed.graph, registered, { valueFault }) : parsed.diagnostics;
  const faults = diagnostics.filter(({ severity }) => severity === 'error');
  if (!parsed.ok || faults.length > 0) {
    return {
      ok: false,
      problems: graphErrors(parsed.ok ? parsed.graph : NO_GRAPH(graph.name), registered, faults),
    };
  }
  return { ok: true, graph: parsed.graph, functions, warnings: diagnostics.map(withHint) };
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
  for (const node of nodesWithTasks(graph)) {
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
  if (source?.pointer === undefined) return { kind: 'a built workflow' };
  return { kind: `the workflow at ${clip(formatLocation(source))}`, file: source.file };
}

/** Prompts and workflows share one space of names: that of `prompts/get`. */
function nameProblems(
  registry: Registry,
  workflows: readonly BuiltWorkflow[],
  prompts: readonly SimplePrompt[],
): NameTakenError[] {
  const named: { readonly name: string; readonly kind: string; readonly file?: string | undefined }[] = [
    ...Object.entries(registry.workflows).map(([name, entry]) => ({
      name,
      kind:
        entry.class === undefined
          ? 'a workflow that codegen has read from a spec file'
          : 'a workflow of the registry',
    })),
    ...Object.keys(registry.prompts ?? {}).map((name) => ({ name, kind: 'a prompt of the registry' })),
    ...workflows.map(({ graph }) => ({ name: graph.name, ...holderOf(graph) })),
    ...prompts.map(({ name }) => ({ name, kind: 'a plain prompt' })),
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

/**
 * What keeps clients from reading the list in which a tool has this schema: MCP takes schemas of objects alone, and
 * clients refuse a whole list for one that is not.
 */
export function listedSchemaFaults(schema: JsonSchema): SchemaFault[] {
  const value: Json = schema;
  if (!isJsonObject(value)) return [{ pointer: '', problem: 'is not a JSON Schema: write an object' }];
  const { type, properties, required } = value;
  if (type !== 'object')
    return [
      {
        pointer: '/type',
        problem: `${type === undefined ? 'is missing' : `is ${JSON.stringify(type)}`}, and the tools of MCP take and return objects: write { "type": "object", "properties": … }, with the value as a property, or give the tool the visibility 'workflow'`,
      },
    ];
  const faults: SchemaFault[] = [];
  if (properties !== undefined && !isJsonObject(properties))
    faults.push({ pointer: '/properties', problem: 'is not an object of schemas' });
  for (const [name, property] of isJsonObject(properties) ? Object.entries(properties) : []) {
    if (!isJsonObject(property))
      faults.push({
        pointer: `/properties/${pointerKey(name)}`,
        problem: 'is not a JSON Schema: write an object',
      });
  }
  const isList = Array.isArray(required) && required.every((name) => typeof name === 'string');
  if (required !== undefined && !isList)
    faults.push({ pointer: '/required', problem: 'is not a list of names' });
  return faults;
}
