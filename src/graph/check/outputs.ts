import { type Diagnostic, diagnostic } from '../diagnostics/diagnostic.js';
import { type DataPath, dataPaths, formatPath } from '../expression/paths.js';
import type { Expr } from '../expression/tree.js';
import type { JsonSchema } from '../json.js';
import type { Node } from '../model.js';
import { sideExpressions, valueExpressions } from '../node-expressions.js';
import type { Place } from '../place.js';
import { nearestName } from '../suggest.js';
import type { CheckEnvironment } from './environment.js';
import { placeOfExpr, placeOfNode, type Subject } from './places.js';
import { type SchemaView, stepInto, viewOf } from './schema-view.js';

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
export function checkOutputPaths(subject: Subject, environment: CheckEnvironment): Diagnostic[] {
  const { graph } = subject;
  const found = graph.nodes.flatMap((node) => {
    const source = placeOfNode(node, graph);
    const exprs = [...valueExpressions(node), ...sideExpressions(node)];
    return exprs.flatMap((expr) => checkPaths(expr, source, subject, environment));
  });
  if (graph.returns === undefined) return found;
  return [...found, ...checkPaths(graph.returns, graph.source, subject, environment)];
}

/** What is known about the value at a path; nothing where it starts at nothing that is declared. */
export function viewAtPath(
  path: DataPath,
  subject: Subject,
  environment: CheckEnvironment,
): SchemaView | undefined {
  let view = rootView(path, subject, environment);
  for (const { key } of path.segments) {
    if (view === undefined) return undefined;
    const step = stepInto(view, key);
    view = step.kind === 'found' ? step.view : undefined;
  }
  return path.complete ? view : undefined;
}

function checkPaths(
  expr: Expr,
  source: Place | undefined,
  subject: Subject,
  environment: CheckEnvironment,
): Diagnostic[] {
  return dataPaths(expr).flatMap((path) => {
    if (path.ref.root !== 'steps') return [];
    let view = rootView(path, subject, environment);
    for (const [index, segment] of path.segments.entries()) {
      if (view === undefined) return [];
      const step = stepInto(view, segment.key);
      if (step.kind === 'missing') {
        const params = {
          step: String(path.ref.path[0]),
          path: formatPath(path.segments.slice(0, index + 1)),
          suggestion: nearestName(String(segment.key), step.known),
        };
        return [diagnostic('SW4005', placeOfExpr(segment, source), params)];
      }
      view = step.view;
    }
    return [];
  });
}

function rootView(path: DataPath, subject: Subject, environment: CheckEnvironment): SchemaView | undefined {
  const name = String(path.ref.path[0]);
  if (path.ref.root === 'inputs') {
    const input = subject.graph.inputs.find((each) => each.name === name);
    return input === undefined ? undefined : viewOf(input.schema);
  }
  const node = path.ref.root === 'steps' ? subject.nodes.get(name)?.node : undefined;
  const schema = node === undefined ? undefined : outputSchema(node, environment);
  return schema === undefined ? undefined : viewOf(schema);
}

function outputSchema(node: Node, environment: CheckEnvironment): JsonSchema | undefined {
  if (node.kind === 'call') return environment.tools.get(node.tool)?.outputSchema;
  return node.kind === 'resource' ? RESOURCE_VALUE : undefined;
}
