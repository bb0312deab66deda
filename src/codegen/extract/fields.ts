import { type Diagnostic, diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { ArgDeclaration, StepDeclaration, WorkflowDeclaration } from '../declarations.js';
import {
  type BaseSyntax,
  type ClassSyntax,
  type DecoratorSyntax,
  type ExpressionSyntax,
  type FieldSyntax,
  type MemberSyntax,
  withoutUndefined,
} from '../syntax.js';
import { allPartsOf, factsOf, outcomeVerbs, symbolOf, unwrap, verbOf } from '../verbs.js';
import { checkField, checkId, checkName } from './names.js';
import {
  classHandle,
  NO_OPTIONS,
  ownDecorators,
  placeOfOption,
  readClasses,
  readOptions,
  textOptions,
} from './read-options.js';

export interface Fields extends Pick<WorkflowDeclaration, 'args' | 'steps' | 'faultyFields'> {
  /** Fields that are neither an argument nor a step, and have no stepwright decorator. */
  readonly plainFields: readonly FieldSyntax[];
  /** Other members without a stepwright decorator. */
  readonly plainMembers: readonly MemberSyntax[];
}

/** Sorts the fields of a class into arguments and steps. */
export function readFields(
  { fields, others }: Pick<ClassSyntax, 'fields' | 'others'>,
  report: Report,
): Fields {
  const args: ArgDeclaration[] = [];
  const steps: StepDeclaration[] = [];
  const decorated = others.filter((member) => refuseMember(member, report));
  const faultyFields = decorated.map(({ name }) => name);
  const plainMembers = others.filter((member) => !decorated.includes(member));
  const plainFields: FieldSyntax[] = [];
  const places = new Map<string, SourceLocation>();
  for (const field of fields) {
    const role = roleOf(field, report);
    if (role.kind === 'none') {
      plainFields.push(field);
      continue;
    }
    const first = places.get(field.name);
    if (first !== undefined) {
      const related = [{ message: 'bound here as well', place: first }];
      report(diagnostic('SW1008', field.place, { field: field.name }, { related }));
      continue;
    }
    places.set(field.name, field.place);
    const reading = role.kind === 'arg' ? readArg(field, role.decorator, report) : undefined;
    const arg = reading === undefined || isKnownArgument(reading, args, report) ? undefined : reading;
    const step = role.kind === 'step' ? readStep(field, role.decorator, report) : undefined;
    if (arg !== undefined) args.push(arg);
    if (step !== undefined) steps.push(step);
    if (arg === undefined && (step === undefined || step.isFaulty)) faultyFields.push(field.name);
  }
  return { args, steps, faultyFields, plainFields, plainMembers };
}

/** True where another argument has the name that callers know this one by, which is reported. */
function isKnownArgument(
  { argument, optionSyntax, place }: ArgDeclaration,
  args: readonly ArgDeclaration[],
  report: Report,
): boolean {
  const first = args.find((other) => other.argument === argument);
  if (first === undefined) return false;
  const related = [{ message: 'bound here as well', place: first.optionSyntax.name?.place ?? first.place }];
  report(diagnostic('SW1008', optionSyntax.name?.place ?? place, { field: argument }, { related }));
  return true;
}

/** What a decorator of a field looks like on one. */
const EXAMPLES: Readonly<Record<string, string>> = {
  Arg: 'an argument is a field: `@Arg({ … }) name!: Arg<string>`',
  Step: 'a step is a field: `@Step() name = call(…)`',
};

/** Reports stepwright decorators on a member that is not a field; true if it has one. */
function refuseMember({ what, decorators }: MemberSyntax, report: Report): boolean {
  const { found, misspelt } = ownDecorators(decorators, report);
  for (const { name: decorator, syntax } of found) {
    report(diagnostic('SW1016', syntax.place, { decorator, what }, { hint: EXAMPLES[decorator] }));
  }
  return found.length > 0 || misspelt.length > 0;
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

function readStep(
  field: FieldSyntax,
  decorator: DecoratorSyntax | undefined,
  report: Report,
): StepDeclaration {
  const { name, place, initializer, isAnnotated } = field;
  const options = decorator === undefined ? NO_OPTIONS : readOptions(decorator, 'Step', name, report);
  const { id } = textOptions(options, ['id']);
  const isIdentified = id === undefined || checkId(id, placeOfOption(options, 'id', place), report);
  const isNamed = checkField('step', name, place, report);
  if (initializer === undefined) report(diagnostic('SW1006', place, { field: name }));
  else refuseSurplus(initializer, report);
  const resources = readClasses('Step', 'resources', options.syntax.resources, report);
  const isSound = initializer !== undefined && isNamed && isIdentified;
  return {
    name,
    place,
    options: {
      ...options.values,
      ...(resources === undefined ? {} : { resources: resources.map(classHandle) }),
    },
    optionSyntax: options.syntax,
    resources: resources ?? [],
    decorated: decorator !== undefined,
    ...(isAnnotated ? { isAnnotated } : {}),
    initializer: initializer ?? { kind: 'undefined', place },
    ...(isSound ? {} : { isFaulty: true }),
  };
}

/** Reports arguments that a verb does not take, anywhere in a step. */
function refuseSurplus(initializer: ExpressionSyntax, report: Report): void {
  for (const part of allPartsOf(initializer)) {
    const verb = part.kind === 'call' ? verbOf(part) : undefined;
    if (verb === undefined || part.kind !== 'call') continue;
    const max = factsOf(verb).arguments;
    const [surplus] = part.args.slice(max);
    if (surplus !== undefined)
      report(diagnostic('SW1031', surplus.place, { verb, max, count: part.args.length }));
  }
}

/** Reads a field under @Arg; nothing where it cannot be named. What else has a fault is reported, and left out. */
function readArg(field: FieldSyntax, decorator: DecoratorSyntax, report: Report): ArgDeclaration | undefined {
  const { name, place, initializer } = field;
  const options = readOptions(decorator, 'Arg', name, report);
  const { name: argument = name } = textOptions(options, ['name']);
  const isNamed =
    checkField('argument', name, place, report) &&
    (argument === name || checkName('argument', argument, placeOfOption(options, 'name', place), report));
  if (initializer !== undefined) {
    const hint = "write the value as `default` of @Arg, and declare the field as `Arg<T, 'default'>`";
    report(
      diagnostic('SW1016', initializer.place, { decorator: 'Arg', what: 'a field with a value' }, { hint }),
    );
  }
  checkComplete(options.syntax.complete, report);
  if (!isNamed) return undefined;
  const type = field.type ?? { kind: 'unknown' };
  const mayBeAbsent = type.kind === 'union' && type.members.some((member) => member.kind === 'undefined');
  return {
    name,
    argument,
    place,
    optional: field.optional || mayBeAbsent,
    options: {
      ...options.values,
      ...(options.syntax.complete === undefined ? {} : { complete: { $function: true } }),
    },
    optionSyntax: options.syntax,
    type: withoutUndefined(type),
  };
}

/** Completion is code, which runs on the server: it has to be a function, and is not looked into. */
function checkComplete(syntax: ExpressionSyntax | undefined, report: Report): void {
  if (syntax === undefined) return;
  const argument = unwrap(syntax);
  const isFunction =
    argument.kind === 'arrow' || argument.kind === 'unsupported' || symbolOf(argument) !== undefined;
  if (isFunction || argument.kind === 'property' || argument.kind === 'call') return;
  const params = { decorator: 'Arg', option: 'complete', expected: 'a function' };
  report(diagnostic('SW1012', argument.place, params));
}

/** Reports every member of a workflow class that is not a step, an argument or a result: nothing would read it. */
export function refuseOthers(
  { name: className }: ClassSyntax,
  fields: readonly FieldSyntax[],
  members: readonly MemberSyntax[],
  report: Report,
): void {
  for (const field of fields) {
    const { name, place, isStatic } = field;
    if (name === 'output' && !isStatic) {
      report(diagnostic('SW1029', place, { className, member: name }));
      continue;
    }
    const what = isStatic ? 'a static field' : 'a plain field';
    report(diagnostic('SW1028', place, { className, what, member: name }, { hint: fieldHint(field) }));
  }
  for (const { name, what, place } of members) {
    const member = what === 'a constructor' ? '' : name;
    report(diagnostic('SW1028', place, { className, what, member }, { hint: MEMBER_HINTS[what] }));
  }
}

function fieldHint({ name, isStatic, initializer }: FieldSyntax): string {
  if (isStatic) return `write \`const ${name} = …\` at the top level of the module`;
  if (initializer === undefined) return `declare it as an argument: \`@Arg({ … }) ${name}!: Arg<…>\``;
  return initializer.kind === 'arrow'
    ? `write \`export function ${name}(…)\` at the top level of a module, and call it in a step`
    : `make it a step: \`@Step() ${name} = …\``;
}

const MEMBER_HINTS: Readonly<Record<MemberSyntax['what'], string>> = {
  'a method': 'write it as an exported function at the top level of a module, and call it in a step',
  'an accessor': 'make it a step: `@Step() name = …`',
  'a constructor': 'remove it: a workflow class is read by the compiler, and never instantiated',
  'a static block': 'move it to the top level of the module',
  'an index signature': 'remove it',
  'a parameter': 'remove it',
};

/** A workflow or a prompt that extends a class: its arguments and steps are its own. */
export function inherits(
  { name: className }: ClassSyntax,
  { name: base, place, fields }: BaseSyntax,
  kind: 'workflow' | 'prompt',
): Diagnostic {
  const names = fields.map(({ name }) => name);
  const related = fields.map((field) => ({
    message: `\`${field.name}\` is declared here`,
    place: field.place,
  }));
  return diagnostic('SW1030', place, { className, kind, base, fields: names }, { related });
}
