import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../graph/expression/tree.js';
import { isJsonObject, type JsonSchema } from '../../graph/json.js';
import type { StateField } from '../../graph/model.js';
import type { StateDeclaration } from '../declarations.js';
import { schemaOfType } from '../schemas/type-schema.js';
import { withoutUndefined } from '../type-syntax.js';
import type { CallSyntax } from '../verbs.js';
import type { Handles } from './handles.js';
import { schemaFault } from './inputs.js';

/** What the classes under @State come to; those at fault are missing. */
export type LinkedStates = ReadonlyMap<StateDeclaration, StateField>;

/** Makes fields of state of classes. What cannot be kept as JSON is reported. */
export function linkStates(
  declarations: readonly StateDeclaration[],
  report: (diagnostic: Diagnostic) => void,
): LinkedStates {
  const states = new Map<StateDeclaration, StateField>();
  for (const state of declarations) {
    const schema = schemaOf(state, report);
    if (schema === undefined || !isInitialFitting(state, schema, report)) continue;
    const { name, initial, place: source } = state;
    states.set(state, { name, scope: 'run', schema, ...(initial === undefined ? {} : { initial }), source });
  }
  return states;
}

function schemaOf(
  { name, type, typePlace }: StateDeclaration,
  report: (diagnostic: Diagnostic) => void,
): JsonSchema | undefined {
  const properties = [{ name: 'value', optional: false, type: withoutUndefined(type) }];
  const { schema, faults } = schemaOfType({ kind: 'object', properties }, 'input');
  for (const fault of faults) {
    const path = `\`${fault.path.replace(/^input\./, '')}\``;
    const problem =
      fault.kind === 'tag'
        ? `\`@${fault.tag}\` of ${path} ${fault.problem}`
        : `${path} is of the type \`${fault.type}\`, which has no JSON form`;
    const hint = fault.kind === 'tag' ? undefined : fault.hint;
    const place = fault.kind === 'tag' ? fault.place : typePlace;
    report(diagnostic('SW1025', place, { state: name, problem }, { hint }));
  }
  if (schema === undefined || !isJsonObject(schema.properties) || !isJsonObject(schema.properties.value))
    return undefined;
  return { ...schema.properties.value, ...(schema.$defs === undefined ? {} : { $defs: schema.$defs }) };
}

function isInitialFitting(
  { initial, initialPlace, place }: StateDeclaration,
  schema: JsonSchema,
  report: (diagnostic: Diagnostic) => void,
): boolean {
  const why = initial === undefined ? undefined : schemaFault(schema, initial);
  if (why === undefined) return true;
  const params = { decorator: 'State', option: 'initial', expected: `of the type of \`value\`: ${why}` };
  report(diagnostic('SW1012', initialPlace ?? place, params));
  return false;
}

/** `get(State)`: what the field holds when the expression is evaluated. */
export function lowerField(
  { args: [handle], callee, place }: CallSyntax,
  handles: Handles,
): Expr | undefined {
  const state = handles.state(handle, 'get', callee.place);
  return state && { kind: 'ref', at: place.span, root: 'state', path: [state.name] };
}
