import { currentSchema } from '../../../formats/json-schema/dialect.js';
import { defined } from '../../../graph/defined.js';
import { diagnostic } from '../../../graph/diagnostics/diagnostic.js';
import type { Expr } from '../../../graph/expression/tree.js';
import type { JsonSchema } from '../../../graph/json.js';
import { schemaDiagnostics } from '../../schemas/schema-faults.js';
import { isNever, schemaOfValue } from '../../schemas/type-schema.js';
import { printType, withoutUndefined } from '../../syntax.js';
import type { CallSyntax } from '../../verbs.js';
import { lowerExpression } from '../expressions.js';
import { boundToNode, type NodeCore, type StepOutcome } from '../nodes.js';
import { readOptionsOf } from '../options.js';
import { answeringOf } from './answerers.js';
import { type Linker, refuse } from './linker.js';

/** The verbs that ask for a value of a type, and the modes of their nodes. */
const MODES = { value: 'yield', model: 'model' } as const;

type ValueVerb = keyof typeof MODES;

/** What is asked for, and the schema of the answer. */
interface ValueRead {
  /** The options about who answers. */
  readonly answering: NonNullable<ReturnType<typeof answeringOf>>;
  readonly message: Expr;
  /** Missing where neither the type nor an option says it, which has not been reported. */
  readonly schema?: JsonSchema;
  /** Set where the schema is written out. */
  readonly isWritten?: true;
}

/** `ask.value<T>(message, options)` and `ask.model<T>(message, options)` as steps. */
export function linkValue(linker: Linker, verb: ValueVerb, call: CallSyntax): StepOutcome | undefined {
  const reading = readValue(linker, verb, call, 'arguments');
  if (reading === undefined) return undefined;
  const { message, schema, answering } = reading;
  if (schema === undefined) return refuseType(linker, verb, call);
  const core: NodeCore = { kind: 'ask', mode: MODES[verb], message, expects: schema, ...answering };
  return linker.outcome(core, linker.attempts(), boundToNode(linker.scope.id));
}

/** Reads the arguments of a verb that asks for a value; nothing where one has a fault, which is reported. */
export function readValue(
  linker: Pick<Linker, 'scope' | 'values' | 'arguments'>,
  verb: ValueVerb,
  { args: [text, options], callee, type }: CallSyntax,
  from: 'values' | 'arguments',
): ValueRead | undefined {
  const { report } = linker.scope;
  if (text === undefined)
    return refuse(linker, callee.place, 'a question without a text', `write \`ask.${verb}('…')\``);
  const message = lowerExpression(text, linker[from]);
  const reading = readOptionsOf(`ask.${verb}`, options, report);
  const answering = reading && answeringOf(linker, reading);
  if (message === undefined || reading === undefined || answering === undefined) return undefined;
  if (reading.values.schema !== undefined) {
    const schema = currentSchema(reading.values.schema as JsonSchema);
    const faults = schemaDiagnostics(schema, { owner: `the schema of \`ask.${verb}\``, place: callee.place });
    for (const fault of faults) report(fault);
    return faults.length > 0 ? undefined : { message, schema, isWritten: true, answering };
  }
  const { schema } = type === undefined || isNever(type) ? {} : schemaOfValue(withoutUndefined(type));
  return { message, ...defined({ schema }), answering };
}

/** Reports a value that has no type, or one without a JSON form. */
export function refuseType(
  { scope }: Pick<Linker, 'scope'>,
  verb: ValueVerb,
  { callee: { place }, type }: CallSyntax,
): undefined {
  const example = `ask.${verb}<{ title: string }>(…)`;
  const [fault] =
    type === undefined || type.kind === 'unknown' || isNever(type) ? [] : schemaOfValue(type).faults;
  const of =
    fault === undefined || type === undefined
      ? 'of an unknown type'
      : `of the type \`${printType(type)}\`, which has no JSON form,`;
  const what = `\`ask.${verb}\` for a value ${of}`;
  const hint = `write its type, \`${example}\`, or its \`schema\` as an option`;
  scope.report(diagnostic('SW2001', place, { what }, { hint }));
  return undefined;
}
