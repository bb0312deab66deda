import type { ListedOptions } from '../../decorators/decorate.js';
import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import { nearestName } from '../../graph/names.js';
import type { SourceLocation } from '../../graph/source-location.js';
import { contradictedHint } from '../../graph/tool-safety.js';
import { parseUriTemplate, uriFault, variableNames } from '../../graph/uri.js';
import type {
  AgentDeclaration,
  ClassHandle,
  FaultyClass,
  HintsDeclaration,
  PromptDeclaration,
  ResourceDeclaration,
  StateDeclaration,
  ToolDeclaration,
  WorkflowDeclaration,
} from '../declarations.js';
import type { ClassSyntax, DecoratorSyntax, ExpressionSyntax, MethodFault, MethodSyntax } from '../syntax.js';
import { unwrap } from '../verbs.js';
import { inherits, readFields, refuseOthers } from './fields.js';
import { checkName, UNNAMED } from './names.js';
import type { DecoratorName } from './options.js';
import {
  classHandle,
  placeOfOption,
  type ReadOptions,
  readClasses,
  readOptions,
  readStatic,
  textOptions,
} from './read-options.js';

/** What a declaration is made of, beside the options. */
export interface DecoratedClass {
  readonly syntax: ClassSyntax;
  readonly handle: ClassHandle;
  readonly decorator: DecoratorSyntax;
  readonly report: Report;
}

/** The options of a class, and what every declaration has. */
function readNamed<K extends string>(
  { syntax, handle, decorator, report }: DecoratedClass,
  type: DecoratorName,
  kind: FaultyClass['kind'],
  texts: readonly K[] = [],
) {
  const options = readOptions(decorator, type, syntax.name, report);
  const { name, ...others } = textOptions<K | 'name'>(options, ['name', ...texts]);
  const namePlace = placeOfOption(options, 'name', decorator.place);
  const isNamed = name !== undefined && checkName(kind, name, namePlace, report);
  return {
    options,
    /** As written, also where it may not be used. */
    name: name ?? syntax.name,
    texts: others as { readonly [P in K]?: string },
    named: { ...handle, name: isNamed ? name : UNNAMED, namePlace },
  };
}

/** Reads a class under @Tool. Faulty parts are reported, and left out or replaced. */
export function readTool(decorated: DecoratedClass): ToolDeclaration {
  const { syntax, decorator, report } = decorated;
  const { options, name, texts, named } = readNamed(decorated, 'Tool', 'tool', ['title', 'description']);
  const { title, description = '' } = texts;
  const executes = calledMethods(decorated, 'execute');
  if (!hasMethod(decorated, 'execute')) report(withoutMethod(syntax, 'execute', 'execute(input, context)'));
  const execute = executes.at(-1);
  const parameter = execute?.parameters[0];
  const hints = readHints(options, report);
  // The rules of these options admit nothing else.
  const { annotations, retrySafety, visibility, listedSchema, scopes, task, upstream } =
    options.values as Partial<ToolDeclaration>;
  const contradicted = contradictedHint({ annotations, retrySafety });
  if (contradicted !== undefined && retrySafety !== undefined) {
    const params = { tool: name, safety: retrySafety, ...contradicted };
    report(diagnostic('SW1032', placeOfOption(options, 'retrySafety', decorator.place), params));
  }
  refuseTwoSchemas(options, report);
  const needsState = readClasses('Tool', 'needsState', options.syntax.needsState, report);
  return {
    ...named,
    description,
    ...defined({ title, annotations, retrySafety, visibility, listedSchema, scopes, task }),
    ...listedOf(options),
    ...defined({ hints, upstream }),
    ...secretsOf(options),
    ...defined({ needsState }),
    hasInputSchema: 'input' in options.syntax || 'inputSchema' in options.syntax,
    ...defined({ writtenSchemas: decorator.schemas }),
    ...literalOptionsOf(decorated, options),
    ...(parameter?.type === undefined ? {} : { inputType: parameter.type, inputPlace: parameter.place }),
    ...(executes.length < 2 ? {} : { overloads: executes.map(({ place }) => place) }),
    ...(execute?.returns === undefined
      ? {}
      : { outputType: execute.returns, outputPlace: execute.returnsPlace }),
    ...(execute?.isUnread ? { isUnread: true } : {}),
  };
}

/** A side of a tool has one schema. */
function refuseTwoSchemas({ syntax }: ReadOptions, report: Report): void {
  for (const side of ['input', 'output'] as const) {
    const other = syntax[`${side}Schema`];
    if (syntax[side] === undefined || other === undefined) continue;
    const params = { what: `the ${side} schema`, first: `\`${side}\``, second: `\`${side}Schema\`` };
    const related = [{ message: 'the other one is here', place: syntax[side].place }];
    report(diagnostic('SW1020', other.place, params, { related }));
  }
}

/** Another decorator may change what this one has recorded. */
function literalOptionsOf(
  { syntax: { decorators }, decorator: { schemas = {} } }: DecoratedClass,
  { values, syntax }: ReadOptions,
): Pick<ToolDeclaration | ResourceDeclaration, 'literalOptions'> {
  const isLiteral = (option: string): boolean =>
    option in schemas || (option in values && !OPTIONS_OF_CLASSES.has(option));
  return decorators.length === 1 && Object.keys(syntax).every(isLiteral) ? { literalOptions: values } : {};
}

/** Options of a tool that name classes. */
const OPTIONS_OF_CLASSES: ReadonlySet<string> = new Set(['hints', 'needsState']);

/** What lists of clients show of a class; the rules of these options admit nothing else. */
function listedOf({ values }: ReadOptions): ListedOptions {
  const { icons, meta } = values as ListedOptions;
  return { ...defined({ icons, meta }) };
}

/** The names of the option `secret`, and where each of them is written. */
function secretsOf({ values, syntax }: ReadOptions): Pick<ToolDeclaration, 'secret' | 'secretPlaces'> {
  const list = syntax.secret && unwrap(syntax.secret);
  if (!('secret' in values) || list?.kind !== 'array') return {};
  // The option's rule admits texts only.
  return {
    secret: values.secret as readonly string[],
    secretPlaces: list.items.map(({ value }) => value.place),
  };
}

/** The option `hints` of a tool: literals as they are, tools as the classes that are written. */
function readHints({ values, syntax }: ReadOptions, report: Report): HintsDeclaration | undefined {
  const hints = syntax.hints && unwrap(syntax.hints);
  if (!('hints' in values) || hints?.kind !== 'object') return undefined;
  const tools = (
    option: 'next' | 'requires',
  ): { readonly [K in typeof option]?: readonly ExpressionSyntax[] } => {
    const entry = hints.entries.find((each) => 'key' in each && each.key === option);
    if (entry === undefined || !('value' in entry) || entry.value.kind === 'undefined') return {};
    return { [option]: readReferences(entry.value, `hints.${option}`, report) };
  };
  // The rules of the options inside admit nothing else.
  const literals = values.hints as Pick<HintsDeclaration, 'category' | 'outputs' | 'hint' | 'examples'>;
  const category = hints.entries.find((each) => 'key' in each && each.key === 'category');
  const place = category !== undefined && 'value' in category ? { categoryPlace: category.value.place } : {};
  return { ...literals, ...tools('next'), ...tools('requires'), ...place };
}

/** `[() => SomeTool]`: functions, since classes may name each other. */
function readReferences(
  syntax: ExpressionSyntax,
  option: string,
  report: Report,
): readonly ExpressionSyntax[] {
  const refuse = (at: ExpressionSyntax): undefined => {
    const expected = 'a list of functions that name tools: `[() => SomeTool]`';
    report(diagnostic('SW1012', at.place, { decorator: 'Tool', option, expected }));
    return undefined;
  };
  const list = unwrap(syntax);
  if (list.kind !== 'array') {
    refuse(list);
    return [];
  }
  return list.items.flatMap(({ value, spread }) => {
    const arrow = unwrap(value);
    const isReference = !spread && arrow.kind === 'arrow' && arrow.parameters.length === 0;
    return (isReference ? arrow.body : undefined) ?? refuse(arrow) ?? [];
  });
}

/** Reads a class under @Resource; nothing without an address. Other faulty parts are reported and left out. */
export function readResource(decorated: DecoratedClass): ResourceDeclaration | undefined {
  const textNames = ['title', 'description', 'mimeType', 'file'] as const;
  const { options, name, texts, named } = readNamed(decorated, 'Resource', 'resource', textNames);
  const { title, description, mimeType, file } = texts;
  const address = readAddress(decorated);
  if (address === undefined) return undefined;
  checkContent(decorated, options, address);
  return {
    ...named,
    ...address,
    ...defined({ title, description, mimeType }),
    ...listedOf(options),
    ...dotSegmentsOf(options, name, address, decorated.report),
    ...literalOptionsOf(decorated, options),
    ...(file === undefined
      ? {}
      : { contentFile: file, contentFilePlace: placeOfOption(options, 'file', named.namePlace) }),
  };
}

/** The variables whose values may contain `..`; a name that the template lacks is reported. */
function dotSegmentsOf(
  { values, syntax }: ReadOptions,
  resource: string,
  { variables }: Address,
  report: Report,
): Pick<ResourceDeclaration, 'dotSegments'> {
  const list = syntax.dotSegments && unwrap(syntax.dotSegments);
  // That it means nothing without a template has been reported.
  if (variables === undefined || !('dotSegments' in values) || list?.kind !== 'array') return {};
  // The option's rule admits texts only.
  const names = values.dotSegments as readonly string[];
  for (const [index, variable] of names.entries()) {
    if (variables.includes(variable)) continue;
    const place = list.items[index]?.value.place ?? list.place;
    const suggestion = nearestName(variable, variables);
    report(diagnostic('SW3008', place, { resource, variable, suggestion }));
  }
  return { dotSegments: names };
}

/** A template has one content for each address, which only `read` can give. */
function checkContent(decorated: DecoratedClass, options: ReadOptions, { variables }: Address): void {
  const { syntax, report } = decorated;
  const { file, dotSegments } = options.syntax;
  calledMethods(decorated, 'read');
  if (variables === undefined) {
    if (dotSegments === undefined) return;
    const params = { option: 'dotSegments', takes: 'a resource with a template', name: syntax.name };
    report(diagnostic('SW1021', dotSegments.place, { decorator: 'Resource', ...params }));
    return;
  }
  if (file !== undefined) {
    const takes = 'a resource with one address';
    const params = { decorator: 'Resource', option: 'file', takes, name: syntax.name };
    report(diagnostic('SW1021', file.place, params));
    return;
  }
  if (hasMethod(decorated, 'read')) return;
  const signature = `read({ ${variables.join(', ')} })`;
  report(withoutMethod(syntax, 'read', signature, 'the content of one address'));
}

type Address = Pick<ResourceDeclaration, 'uri' | 'uriPlace' | 'variables'>;

/** The address is a static field, so that workflows and handlers can name it as `LogseqIntro.uri`. */
function readAddress({ syntax, report }: DecoratedClass): Address | undefined {
  const [uri, template] = ['uri', 'uriTemplate'].map((option) =>
    syntax.fields.find(({ name, isStatic }) => name === option && isStatic),
  );
  const field = template ?? uri;
  if (uri !== undefined && template !== undefined) {
    const params = { what: 'the address', first: '`uri`', second: '`uriTemplate`' };
    const related = [{ message: 'the other one is here', place: uri.place }];
    report(diagnostic('SW1020', template.place, params, { related }));
    return undefined;
  }
  if (field?.initializer === undefined) {
    const hint = "write `static readonly uri = 'resource://…'` in the class";
    report(
      diagnostic('SW1005', field?.place ?? syntax.place, { name: syntax.name, option: 'uri' }, { hint }),
    );
    return undefined;
  }
  const text = readText(field.name, field.initializer, report);
  if (text === undefined) return undefined;
  return template === undefined
    ? checkUri(text, field.initializer.place, report)
    : checkTemplate(text, field.initializer.place, report);
}

function readText(option: string, initializer: ExpressionSyntax, report: Report): string | undefined {
  const reading = readStatic(initializer);
  if (!reading.ok) {
    const hint = reading.instead;
    report(diagnostic('SW1003', reading.place, { decorator: 'Resource', option }, { hint }));
    return undefined;
  }
  if (typeof reading.value === 'string') return reading.value;
  report(diagnostic('SW1012', initializer.place, { decorator: 'Resource', option, expected: 'text' }));
  return undefined;
}

function checkUri(uri: string, uriPlace: SourceLocation, report: Report): Address | undefined {
  const why = uriFault(uri);
  if (why === undefined) return { uri, uriPlace };
  const isTemplate = !('why' in parseUriTemplate(uri));
  const hint = isTemplate ? 'an address with variables is `static readonly uriTemplate = …`' : undefined;
  report(diagnostic('SW4007', uriPlace, { uri, why }, { hint }));
  return undefined;
}

function checkTemplate(template: string, uriPlace: SourceLocation, report: Report): Address | undefined {
  const parsed = parseUriTemplate(template);
  // With something in the place of its variables it has to be an address.
  const why = 'why' in parsed ? parsed.why : uriFault(template.replaceAll(/\{[^{}]*\}/g, 'x'));
  if (why === undefined && 'parts' in parsed)
    return { uri: template, uriPlace, variables: variableNames(parsed.parts) };
  const isFixed = !/[{}]/.test(template);
  const hint = isFixed ? 'an address without variables is `static readonly uri = …`' : undefined;
  report(diagnostic('SW1024', uriPlace, { template, why: why ?? '' }, { hint }));
  return undefined;
}

/** Reads a class under @Workflow. Faulty parts are reported, and left out or replaced. */
export function readWorkflow(decorated: DecoratedClass): WorkflowDeclaration {
  const { syntax, report } = decorated;
  const { options, name, named } = readNamed(decorated, 'Workflow', 'workflow');
  if (syntax.base !== undefined) report(inherits(syntax, syntax.base, 'workflow'));
  const instructions = readClasses('Workflow', 'instructions', options.syntax.instructions, report);
  const needsState = readClasses('Workflow', 'needsState', options.syntax.needsState, report);
  const { plainFields, plainMembers, ...fields } = readFields(syntax, report);
  refuseOthers(syntax, plainFields, plainMembers, report);
  const mayHaveSteps = fields.faultyFields.length > 0 || plainFields.length > 0 || syntax.base !== undefined;
  if (fields.steps.length === 0 && !mayHaveSteps) {
    report(diagnostic('SW1009', syntax.place, { workflow: name }));
  }
  return {
    ...named,
    options: {
      ...options.values,
      ...(instructions === undefined ? {} : { instructions: instructions.map(classHandle) }),
      ...(needsState === undefined ? {} : { needsState: needsState.map(classHandle) }),
    },
    ...listedOf(options),
    instructions: instructions ?? [],
    needsState: needsState ?? [],
    ...fields,
    // Each has been reported; a use of one is not reported again.
    faultyFields: [
      ...fields.faultyFields,
      ...[...plainFields, ...plainMembers, ...(syntax.base?.fields ?? [])].map((member) => member.name),
    ],
  };
}

/** Reads a class under @Prompt. Faulty parts are reported, and left out or replaced. */
export function readPrompt(decorated: DecoratedClass): PromptDeclaration {
  const { syntax, report } = decorated;
  const { options, texts, named } = readNamed(decorated, 'Prompt', 'prompt', ['title', 'description']);
  const { title, description = '' } = texts;
  const { args, steps } = readFields(syntax, report);
  for (const { place, decorated, isFaulty } of steps) {
    const hint = 'a prompt renders messages: what is to be run is a @Workflow';
    const params = { decorator: 'Step', what: 'a field of a prompt' };
    if (decorated && !isFaulty) report(diagnostic('SW1016', place, params, { hint }));
  }
  if (syntax.base !== undefined && syntax.base.fields.length > 0)
    report(inherits(syntax, syntax.base, 'prompt'));
  calledMethods(decorated, 'render');
  if (!hasMethod(decorated, 'render'))
    report(withoutMethod(syntax, 'render', 'render(args, context)', 'the messages'));
  return {
    ...named,
    ...defined({ title }),
    description,
    ...listedOf(options),
    options: options.values,
    args,
  };
}

/** Reads a class under @State; nothing when it has no `value`. Other faulty parts are reported and left out. */
export function readState(decorated: DecoratedClass): StateDeclaration | undefined {
  const { syntax, report } = decorated;
  const { options, name, named } = readNamed(decorated, 'State', 'state');
  const value = syntax.fields.find((field) => field.name === 'value' && !field.isStatic);
  if (value === undefined) {
    const problem = 'the class has no field `value`, whose type says what is kept';
    const hint = 'add one: `value!: string`';
    report(diagnostic('SW1025', syntax.place, { state: name, problem }, { hint }));
    return undefined;
  }
  // The rules of these options admit literals alone.
  const { scope, initial } = options.values as Partial<StateDeclaration>;
  const initialPlace = placeOfOption(options, 'initial', named.namePlace);
  return {
    ...named,
    ...defined({ scope }),
    ...(initial === undefined ? {} : { initial, initialPlace }),
    type: value.type ?? { kind: 'unknown' },
    typePlace: value.place,
  };
}

/** Reads a class under @Agent. Faulty parts are reported and left out. */
export function readAgent(decorated: DecoratedClass): AgentDeclaration {
  const { named } = readNamed(decorated, 'Agent', 'agent');
  const reply = decorated.syntax.fields.find((field) => field.name === 'reply' && !field.isStatic)?.type;
  return { ...named, ...defined({ reply }) };
}

/** What is written instead of what cannot be called, by its fault. */
const REPAIRS: Readonly<Record<MethodFault, (name: string) => string>> = {
  static: (name) => `leave out \`static\`: the server calls \`${name}\` on an instance`,
  private: () => 'leave out `private`: the server calls it from outside of the class',
  protected: () => 'make it public: the server calls it from outside of the class',
  abstract: (name) => `write \`${name}\` in this class, with a body`,
  'a field': (name) => `write it as a method: \`${name}(…) { … }\`, which classes that extend this one share`,
  'an accessor': (name) => `write it as a method: \`${name}(…) { … }\``,
};

/** Fields that hold functions are called as methods are, and the messages of prompts may be made by one. */
const FIELDS_ALLOWED: readonly string[] = ['render', 'read'];

/** The signatures of a method that the server calls on instances, own or inherited; reports one that it cannot call. */
function calledMethods(
  { syntax, report }: DecoratedClass,
  name: 'execute' | 'render' | 'read',
): readonly MethodSyntax[] {
  const all = syntax.methods.filter((method) => method.name === name);
  const isUsable = ({ fault }: MethodSyntax): boolean =>
    fault === undefined || (fault === 'a field' && FIELDS_ALLOWED.includes(name));
  const usable = all.filter(isUsable);
  const faulty = all.find((method) => !isUsable(method));
  if (usable.length === 0 && faulty?.fault !== undefined) {
    const params = { className: syntax.name, method: name, what: faulty.fault };
    report(diagnostic('SW1027', faulty.place, params, { hint: REPAIRS[faulty.fault](name) }));
  }
  return usable;
}

/** Whether a class has a method by that name at all, one that cannot be called included. */
function hasMethod({ syntax }: DecoratedClass, name: string): boolean {
  return syntax.methods.some((method) => method.name === name);
}

/**
 * A class without a method it needs.
 * @param signature the method as it is to be written.
 * @param result what it returns, where that is to be said.
 */
function withoutMethod(
  { name: className, place }: ClassSyntax,
  method: string,
  signature: string,
  result?: string,
): Diagnostic {
  const hint = `add \`${signature}\`${result === undefined ? '' : `, which returns ${result}`}`;
  return diagnostic('SW1022', place, { className, method }, { hint });
}
