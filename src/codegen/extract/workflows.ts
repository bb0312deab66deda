import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Place } from '../../graph/place.js';
import type { ArgDeclaration, StepDeclaration, WorkflowDeclaration } from '../declarations.js';
import type { DecoratorSyntax, ExpressionSyntax, FieldSyntax } from '../syntax.js';
import { withoutUndefined } from '../type-syntax.js';
import { outcomeVerbs, symbolOf } from '../verbs.js';
import type { DecoratedClass } from './collected.js';
import { ownDecorators } from './decorators.js';
import { checkField, checkId, checkName } from './names.js';
import { type ReadOptions, readOptions } from './read-options.js';
import { placeOfOption, textOptions } from './texts.js';

type Report = (diagnostic: Diagnostic) => void;

/** Reads a class under @Workflow; it is not sound when its name or description is missing or has a fault. */
export function readWorkflow(decorated: DecoratedClass): {
  readonly workflow: WorkflowDeclaration;
  readonly isSound: boolean;
} {
  const { syntax, handle, decorator, report } = decorated;
  const options = readOptions(decorator, 'Workflow', syntax.name, report);
  const { name, description } = textOptions(options, ['name', 'description']);
  const namePlace = placeOfOption(options, 'name', decorator.place);
  const isNamed = name === undefined || checkName('workflow', name, namePlace, report);
  if (syntax.base !== undefined) {
    const hint = 'a workflow class stands alone: its arguments and steps are its own';
    const params = { decorator: 'Workflow', what: 'a class that extends another' };
    report(diagnostic('SW1016', syntax.base, params, { hint }));
  }
  const instructions = readInstructions(options.syntax.instructions, report);
  const fields = readFields(syntax.fields, report);
  if (fields.steps.length === 0 && fields.faultyFields.length === 0) {
    report(diagnostic('SW1009', syntax.place, { workflow: name ?? syntax.name }));
  }
  const handles = instructions?.map((item) => ({ $class: className(item) }));
  const workflow: WorkflowDeclaration = {
    ...handle,
    name: name ?? '',
    namePlace,
    options: { ...options.values, ...(handles === undefined ? {} : { instructions: handles }) },
    instructions: instructions ?? [],
    ...fields,
  };
  return { workflow, isSound: name !== undefined && description !== undefined && isNamed };
}

/** The classes of the option, or nothing where it was not given. */
function readInstructions(
  syntax: ExpressionSyntax | undefined,
  report: Report,
): readonly ExpressionSyntax[] | undefined {
  if (syntax === undefined) return undefined;
  if (syntax.kind !== 'array' || syntax.items.some((item) => item.spread)) {
    report(diagnostic('SW1003', syntax.place, { decorator: 'Workflow', option: 'instructions' }));
    return undefined;
  }
  return syntax.items.map((item) => item.value);
}

function className(handle: ExpressionSyntax): string {
  return symbolOf(handle)?.name ?? '';
}

type Fields = Pick<WorkflowDeclaration, 'args' | 'steps' | 'faultyFields'>;

function readFields(fields: readonly FieldSyntax[], report: Report): Fields {
  const args: ArgDeclaration[] = [];
  const steps: StepDeclaration[] = [];
  const faultyFields: string[] = [];
  const places = new Map<string, Place>();
  for (const field of fields) {
    const role = roleOf(field, report);
    if (role.kind === 'none') continue;
    const first = places.get(field.name);
    if (first !== undefined) {
      const related = [{ message: 'bound here as well', place: first }];
      report(diagnostic('SW1008', field.place, { field: field.name }, { related }));
      continue;
    }
    places.set(field.name, field.place);
    const arg = role.kind === 'arg' ? readArg(field, role.decorator, report) : undefined;
    const step = role.kind === 'step' ? readStep(field, role.decorator, report) : undefined;
    if (arg !== undefined) args.push(arg);
    if (step !== undefined) steps.push(step);
    if (arg === undefined && step === undefined) faultyFields.push(field.name);
  }
  return { args, steps, faultyFields };
}

type Role =
  | { readonly kind: 'none' | 'faulty' }
  | { readonly kind: 'arg'; readonly decorator: DecoratorSyntax }
  /** Without a decorator: `done(…)`, or a step whose missing decorator has been reported. */
  | { readonly kind: 'step'; readonly decorator?: DecoratorSyntax };

function roleOf(field: FieldSyntax, report: Report): Role {
  const { found, misspelt } = ownDecorators(field.decorators, report);
  const [first, second] = found;
  const refuse = (own: { readonly name: string; readonly syntax: DecoratorSyntax }, what: string): Role => {
    report(diagnostic('SW1016', own.syntax.place, { decorator: own.name, what }));
    return { kind: 'faulty' };
  };
  if (first !== undefined) {
    if (first.name !== 'Arg' && first.name !== 'Step') return refuse(first, 'a field');
    if (second !== undefined) return refuse(second, `a field under @${first.name}`);
    if (field.isStatic) return refuse(first, 'a static field');
    return { kind: first.name === 'Arg' ? 'arg' : 'step', decorator: first.syntax };
  }
  if (misspelt.includes('Arg')) return { kind: 'faulty' };
  if (misspelt.length > 0) return { kind: 'step' };
  const verbs = field.initializer === undefined ? [] : outcomeVerbs(field.initializer);
  if (verbs.length === 0 || field.isStatic) return { kind: 'none' };
  if (verbs.some((verb) => verb !== 'done')) report(diagnostic('SW1007', field.place, { field: field.name }));
  return { kind: 'step' };
}

function readArg(field: FieldSyntax, decorator: DecoratorSyntax, report: Report): ArgDeclaration | undefined {
  const { name, place, initializer } = field;
  const options = readOptions(decorator, 'Arg', name, report);
  const isNamed = checkField('argument', name, place, report);
  if (initializer !== undefined) {
    const hint = "write the value as `default` of @Arg, and declare the field as `Arg<T, 'default'>`";
    report(
      diagnostic('SW1016', initializer.place, { decorator: 'Arg', what: 'a field with a value' }, { hint }),
    );
  }
  if (!options.complete || !isNamed || initializer !== undefined) return undefined;
  const type = field.type ?? { kind: 'unknown' };
  const mayBeAbsent = type.kind === 'union' && type.members.some((member) => member.kind === 'undefined');
  return {
    name,
    place,
    optional: field.optional || mayBeAbsent,
    options: options.values,
    optionSyntax: options.syntax,
    type: withoutUndefined(type),
  };
}

const NO_OPTIONS: ReadOptions = { values: {}, syntax: {}, complete: true };

function readStep(
  field: FieldSyntax,
  decorator: DecoratorSyntax | undefined,
  report: Report,
): StepDeclaration | undefined {
  const { name, place, initializer } = field;
  const options = decorator === undefined ? NO_OPTIONS : readOptions(decorator, 'Step', name, report);
  const { id } = textOptions(options, ['id']);
  const isIdentified = id === undefined || checkId(id, placeOfOption(options, 'id', place), report);
  const isNamed = checkField('step', name, place, report);
  if (initializer === undefined) {
    report(diagnostic('SW1006', place, { field: name }));
    return undefined;
  }
  if (!isNamed || !isIdentified) return undefined;
  return {
    name,
    place,
    options: options.values,
    optionSyntax: options.syntax,
    decorated: decorator !== undefined,
    initializer,
  };
}
