import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { dataPaths, formatPath } from '../expression/paths.js';
import type { Expr } from '../expression/tree.js';
import type { JsonSchema } from '../json.js';
import type { Node } from '../model.js';
import { fallbackValue, sideExpressions, valueExpressions } from '../node-expressions.js';
import type { Place } from '../place.js';
import { nearestName } from '../suggest.js';
import type { CheckEnvironment } from './environment.js';
import { either, type Known, ofSchema, read, UNKNOWN } from './known.js';
import { placeOfExpr, placeOfNode, type Subject } from './places.js';
import { type Names, typeOf } from './type-of.js';

/** What reading a resource gives; see `ResourceNode`. */
const RESOURCE_VALUE: JsonSchema = {
  type: 'object',
  properties: {
    uri: { type: 'string' },
    mimeType: { type: 'string' },
    text: { type: 'string' },
    blob: { type: 'string' },
  },
  additionalProperties: false,
};

/** SW4005: paths that no output of the step they read from can have. */
export function checkOutputPaths({ graph }: Subject, names: Names): Diagnostic[] {
  const found = graph.nodes.flatMap((node) => {
    const source = placeOfNode(node, graph);
    const exprs = [...valueExpressions(node), ...sideExpressions(node)];
    return exprs.flatMap((expr) => checkPaths(expr, source, names));
  });
  if (graph.returns === undefined) return found;
  return [...found, ...checkPaths(graph.returns, graph.source, names)];
}

/** What is known of the arguments and of the values of the steps. A step knows of those before it only. */
export function namesOf({ graph, nodes }: Subject, environment: CheckEnvironment): Names {
  const inputs = new Map(graph.inputs.map(({ name, schema }) => [name, ofSchema(schema)]));
  const steps = new Map<string, Known>();
  const names: Names = {
    inputs: (name) => inputs.get(name) ?? UNKNOWN,
    steps: (name) => steps.get(name) ?? UNKNOWN,
  };
  for (const { node } of nodes.values()) steps.set(node.id, knownValue(node, names, environment));
  return names;
}

function checkPaths(expr: Expr, source: Place | undefined, names: Names): Diagnostic[] {
  return dataPaths(expr).flatMap((path) => {
    if (path.ref.root !== 'steps') return [];
    const step = String(path.ref.path[0]);
    let known = names.steps(step);
    for (const [index, segment] of path.segments.entries()) {
      const next = read(known, segment.key);
      if (next.kind === 'missing') {
        const params = {
          step,
          path: formatPath(path.segments.slice(0, index + 1)),
          suggestion: nearestName(String(segment.key), next.keys),
        };
        return [diagnostic('SW4005', placeOfExpr(segment, source), params)];
      }
      known = next.known;
    }
    return [];
  });
}

function knownValue(node: Node, names: Names, environment: CheckEnvironment): Known {
  const value = ownValueOf(node, names, environment);
  const fallback = fallbackValue(node);
  return fallback === undefined ? value : either(value, typeOf(fallback, names));
}

function ownValueOf(node: Node, names: Names, { tools }: CheckEnvironment): Known {
  switch (node.kind) {
    case 'call': {
      const schema = tools.get(node.tool)?.outputSchema;
      return schema === undefined ? UNKNOWN : ofSchema(schema);
    }
    case 'resource':
      return ofSchema(RESOURCE_VALUE);
    case 'compute':
      return node.function === undefined ? typeOf(node.value, names) : UNKNOWN;
    default:
      return UNKNOWN;
  }
}
