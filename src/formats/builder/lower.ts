import type { Expr } from '../../graph/expression/tree.js';
import { GRAPH_VERSION, type Graph, type Input, type ResourceRef } from '../../graph/model.js';
import type { Place } from '../../graph/place.js';
import { valuesOf } from './argument-schema.js';
import type { ArgumentDefinition, WorkflowDefinition } from './definition.js';
import { InvalidOptionError, MissingFieldError, type WorkflowError } from './errors.js';
import { StepLowering } from './lower-step.js';
import { NodeList } from './node-list.js';
import { lineOf, Provenance } from './provenance.js';
import type { FunctionEntry, Registered } from './registered.js';
import { resolveResource } from './resolve.js';
import { Scope } from './scope.js';
import { strategyOf } from './strategy.js';

/** A fault, and where it stands in the order of writing. */
export interface Problem {
  readonly line: number;
  readonly error: WorkflowError;
}

/** A workflow as the checker reads it. Parts that were reported are left out or stand as absent. */
export interface Lowered {
  /** With places that `provenance` understands. */
  readonly graph: Graph;
  readonly provenance: Provenance;
  /** What the transforms that are expressions make of their outputs. */
  readonly transforms: readonly Expr[];
  readonly functions: ReadonlyMap<string, FunctionEntry>;
  /** Names that stand for tools which have been reported. */
  readonly unresolvedTools: readonly string[];
  /** Whether a program has put in parts of expressions that were not made and checked by the builder. */
  readonly hasForeignParts: boolean;
  /** What was found on the way. */
  readonly problems: readonly Problem[];
}

/** Makes the graph of a workflow; what it means is left to the checker. */
export function lower(definition: WorkflowDefinition, registered: Registered | undefined): Lowered {
  const { name, description, details, steps, strategy, result } = definition;
  const provenance = new Provenance();
  const problems: Problem[] = [];
  const report = (place: Place, error: WorkflowError): void =>
    void problems.push({ line: lineOf(place), error });

  const source = provenance.place({ kind: 'workflow' });
  if (steps.length === 0) report(source, new MissingFieldError({ workflow: name, field: 'steps' }, 'SW1009'));

  const inputs = definition.args.map((arg) => {
    const place = provenance.place({ kind: 'argument', name: arg.name });
    return inputOf(arg, place, (problem) => report(place, problem));
  });
  const instructions = definition.instructions.flatMap((resource): ResourceRef[] => {
    const resolved = resolveResource(resource, name, registered);
    const place = provenance.place({ kind: 'instruction' });
    if (resolved.ok) return [{ resource: resolved.name, uri: resolved.uri, source: place }];
    report(place, resolved.error);
    return [];
  });
  const errorStrategy =
    strategy &&
    strategyOf(strategy, (reason) =>
      report(source, new InvalidOptionError({ owner: 'the error strategy', reason })),
    );

  const scope = new Scope(
    name,
    steps,
    inputs.map((input) => input.name),
  );
  const nodes = new NodeList(strategy?.kind === 'collect' ? 'all_done' : 'none_failed');
  const lowering = new StepLowering({ workflow: name, registered, provenance, report, scope, nodes });
  for (const [index, step] of steps.entries()) lowering.add(step, scope.ids[index] ?? '');
  if (result !== undefined) lowering.addResult(result);

  const graph: Graph = {
    ...details,
    graphVersion: GRAPH_VERSION,
    name,
    description,
    inputs,
    instructions,
    nodes: nodes.all,
    ...(errorStrategy === undefined ? {} : { errorStrategy }),
    source,
  };
  const { transforms, functions, unresolvedTools, hasForeignParts } = lowering;
  const named = functions.named;
  return { graph, provenance, transforms, functions: named, unresolvedTools, hasForeignParts, problems };
}

function inputOf(
  definition: ArgumentDefinition,
  source: Place,
  report: (error: WorkflowError) => void,
): Input {
  const { name, description, required, title, secret, default: fallback } = definition;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    ...valuesOf(definition, report),
    required: required === true && fallback === undefined,
    ...(secret === true ? { secret } : {}),
    source,
  };
}
