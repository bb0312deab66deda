import { defined } from '../../graph/defined.js';
import type { Expr } from '../../graph/expression/tree.js';
import type { JsonSchema } from '../../graph/json.js';
import { GRAPH_VERSION, type Graph, type Input, type ResourceRef } from '../../graph/model.js';
import { whenApproved } from '../../graph/nodes.js';
import type { SourceLocation } from '../../graph/source-location.js';
import { lineOf, NodeList, Origins, Scope } from './context.js';
import { type ArgumentDefinition, strategyOf, type WorkflowDefinition } from './definition.js';
import { InvalidOptionError, MissingFieldError, type WorkflowError } from './errors.js';
import { defaultReasons, schemaReasons } from './expressions.js';
import { StepLowering } from './lower-steps.js';
import { type FunctionEntry, type Registered, resolveResource } from './tools-and-resources.js';

/** An error, and the number of the part that it is in. */
export interface LocatedError {
  readonly line: number;
  readonly error: WorkflowError;
}

/** A workflow as a graph for the checker. Parts with reported errors are left out, or are absent values. */
export interface Lowered {
  /** The places in it are those of `origins`. */
  readonly graph: Graph;
  readonly origins: Origins;
  /** The values that transforms with expressions make. */
  readonly transforms: readonly Expr[];
  readonly functions: ReadonlyMap<string, FunctionEntry>;
  /** The names in the graph of tools whose errors have been reported. */
  readonly unresolvedTools: readonly string[];
  /** Whether the graph has expressions, or texts of classes, that the builder did not make and check. */
  readonly hasForeignParts: boolean;
  /** The errors found while lowering. */
  readonly errors: readonly LocatedError[];
}

/** Makes the graph of a workflow. The checker finds errors in its meaning. */
export function lower(definition: WorkflowDefinition, registered: Registered | undefined): Lowered {
  const { name, description, details, steps, strategy, result } = definition;
  const origins = new Origins();
  const errors: LocatedError[] = [];
  const report = (place: SourceLocation, error: WorkflowError): void =>
    void errors.push({ line: lineOf(place), error });

  const source = origins.place({ kind: 'workflow' });
  if (steps.length === 0) report(source, new MissingFieldError({ workflow: name, field: 'steps' }, 'SW1009'));

  const inputs = definition.args.map((arg) => {
    const place = origins.place({ kind: 'argument', name: arg.name });
    return inputOf(arg, place, (problem) => report(place, problem));
  });
  const instructions = definition.instructions.flatMap((resource): ResourceRef[] => {
    const resolved = resolveResource(resource, name, registered);
    const place = origins.place({ kind: 'instruction' });
    if (resolved.ok) return [{ resource: resolved.name, uri: resolved.uri, source: place }];
    report(place, resolved.error);
    return [];
  });
  const errorStrategy =
    strategy &&
    strategyOf(strategy, (reason) =>
      report(source, new InvalidOptionError({ owner: 'the error strategy', reason })),
    );

  const names = inputs.map((input) => input.name);
  const scope = new Scope(name, steps, names, registered);
  const nodes = new NodeList(strategy?.kind === 'collect' ? 'all_done' : 'none_failed');
  const lowering = new StepLowering({ workflow: name, registered, origins, report, scope, nodes });
  for (const [index, step] of steps.entries()) lowering.add(step, scope.ids[index] ?? '');
  if (result !== undefined) lowering.addResult(result);

  const { task, ...otherDetails } = details;
  const graph: Graph = {
    ...otherDetails,
    ...(task === true ? { task } : {}),
    graphVersion: GRAPH_VERSION,
    name,
    description,
    inputs,
    instructions,
    nodes: whenApproved(nodes.all),
    ...defined({ errorStrategy }),
    source,
  };
  const { transforms, functions, unresolvedTools, hasForeignParts } = lowering;
  const named = functions.named;
  return { graph, origins, transforms, functions: named, unresolvedTools, hasForeignParts, errors };
}

function inputOf(
  definition: ArgumentDefinition,
  source: SourceLocation,
  report: (error: WorkflowError) => void,
): Input {
  const { name, description, required, title, secret, default: fallback } = definition;
  return {
    name,
    ...defined({ title }),
    description,
    ...valuesOf(definition, report),
    required: required === true && fallback === undefined,
    ...(secret === true ? { secret } : {}),
    source,
  };
}

/** The schema of an argument without one. */
const TEXT: JsonSchema = { type: 'string' };

/**
 * Makes the schema and the default of an argument. An invalid schema is replaced by `{}`, and a default without a valid
 * schema or that does not fit it is left out.
 *
 * @param report receives the errors of the schema and the default.
 */
function valuesOf(
  { name, schema = TEXT, default: fallback }: ArgumentDefinition,
  report: (error: WorkflowError) => void,
): Pick<Input, 'schema' | 'default'> {
  const owner = `argument '${name}'`;
  const schemaProblems = schema === TEXT ? [] : schemaReasons(schema);
  const isUsable = schemaProblems.length === 0;
  const misfits = fallback === undefined || !isUsable ? [] : defaultReasons(fallback, schema);
  for (const reason of [...schemaProblems, ...misfits]) report(new InvalidOptionError({ owner, reason }));
  if (!isUsable) return { schema: {} };
  return { schema, ...(fallback === undefined || misfits.length > 0 ? {} : { default: fallback }) };
}
