import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { dataPaths, formatPath, type PathSegment } from '../expression/paths.js';
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

/** SW4005 and SW3013: paths that no output of the step, or no value of the argument, they read from can have. */
export function checkOutputPaths({ graph }: Subject, names: Names): Diagnostic[] {
  const found = graph.nodes.flatMap((node) => {
    const source = placeOfNode(node, graph);
    const summary = node.summary === undefined ? [] : [node.summary];
    const exprs = [...valueExpressions(node), ...sideExpressions(node), ...summary];
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
  return dataPaths(expr).flatMap(({ ref: { root, path }, segments }) => {
    if (root !== 'steps' && root !== 'inputs') return [];
    const name = String(path[0]);
    const missing = missingIn(segments, names[root](name));
    if (missing === undefined) return [];
    const place = placeOfExpr(missing.segment, source);
    const { path: whole, suggestion } = missing;
    return root === 'steps'
      ? diagnostic('SW4005', place, { step: name, path: whole, suggestion })
      : diagnostic('SW3013', place, { argument: name, path: whole, suggestion });
  });
}

/** The first key of a path that nothing has. */
function missingIn(
  segments: readonly PathSegment[],
  value: Known,
):
  | { readonly segment: PathSegment; readonly path: string; readonly suggestion: string | undefined }
  | undefined {
  let known = value;
  for (const [index, segment] of segments.entries()) {
    const next = read(known, segment.key);
    if (next.kind === 'missing') {
      const suggestion = nearestName(String(segment.key), next.keys);
      return { segment, path: formatPath(segments.slice(0, index + 1)), suggestion };
    }
    known = next.known;
  }
  return undefined;
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
