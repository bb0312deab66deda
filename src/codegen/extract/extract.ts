import { defined } from '../../graph/defined.js';
import { type Diagnostic, diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import type { ClassHandle, Declarations, FaultyClass, Phase } from '../declarations.js';
import type {
  ClassSyntax,
  DecoratorSyntax,
  ExpressionSyntax,
  ImportCycle,
  SourceFileSyntax,
} from '../syntax.js';
import { partsOf, symbolOf, unwrap } from '../verbs.js';
import {
  type DecoratedClass,
  readAgent,
  readPrompt,
  readResource,
  readState,
  readTool,
  readWorkflow,
} from './classes.js';
import { type MutableDeclarations, refuseDuplicates } from './names.js';
import { isDecoratorName } from './options.js';
import { type OwnDecorator, ownDecorators } from './read-options.js';

const KINDS = {
  Tool: 'tool',
  Resource: 'resource',
  Workflow: 'workflow',
  Prompt: 'prompt',
  State: 'state',
  Agent: 'agent',
} as const;

type ClassDecorator = keyof typeof KINDS;

/**
 * Finds the tools, resources, workflows, prompts, fields of state and agents of a project. Every fault is reported. Only a
 * class that cannot be read is left out: others may use one that cannot be registered.
 */
export function extract(files: readonly SourceFileSyntax[]): Phase<Declarations> {
  const diagnostics: Diagnostic[] = [];
  const declarations = nothing();
  for (const file of files) {
    const { value, diagnostics: ofFile } = extractFile(file);
    diagnostics.push(...ofFile);
    for (const kind of KINDS_OF_DECLARATIONS) (declarations[kind] as unknown[]).push(...value[kind]);
  }
  refuseDuplicates(declarations, (fault) => diagnostics.push(fault));
  const handles = files.flatMap((each) => (each.faults.length > 0 ? [] : each.handles));
  const broken = files.filter(({ faults }) => faults.length > 0).map(({ file }) => file);
  return {
    value: { ...declarations, handles, files: files.map(({ file }) => file), brokenFiles: new Set(broken) },
    diagnostics,
  };
}

const KINDS_OF_DECLARATIONS = [
  ...['tools', 'resources', 'workflows', 'prompts', 'states', 'agents'],
  'faulty',
] as const;

function nothing(): MutableDeclarations {
  return { tools: [], resources: [], workflows: [], prompts: [], states: [], agents: [], faulty: [] };
}

/** A file that is read once in several runs gives the same declarations: later phases remember what they made of them. */
const extracted = new WeakMap<SourceFileSyntax, Phase<MutableDeclarations>>();

function extractFile(file: SourceFileSyntax): Phase<MutableDeclarations> {
  const cached = extracted.get(file);
  if (cached !== undefined) return cached;
  const diagnostics = file.faults.map(({ message, place, maxDepth, isUnreadable }) =>
    maxDepth === undefined
      ? diagnostic('SW1001', place, { message, isUnreadable })
      : diagnostic('SW9015', place, { file: file.file, limit: maxDepth }),
  );
  const declarations = nothing();
  // What a parser makes of a broken file is a guess: its classes are known by name, and not read.
  const isBroken = file.faults.length > 0;
  const report = isBroken ? () => {} : (fault: Diagnostic) => void diagnostics.push(fault);
  for (const { className, place } of file.instances) report(diagnostic('SW1034', place, { className }));
  for (const syntax of file.classes) readClass(file, syntax, isBroken, declarations, report);
  const phase = { value: declarations, diagnostics };
  extracted.set(file, phase);
  return phase;
}

/** What the address of a module gives another meaning: a fragment, a query, an escape. */
const UNIMPORTABLE = /[#?%]/;

function readClass(
  { file, cycles }: SourceFileSyntax,
  syntax: ClassSyntax,
  isBroken: boolean,
  into: MutableDeclarations,
  report: Report,
): void {
  const { found, misspelt } = ownDecorators(syntax.decorators, report);
  const [first, second] = found.filter(
    (own): own is OwnDecorator & { name: ClassDecorator } => own.name in KINDS,
  );
  for (const own of found) {
    if (own.name in KINDS) continue;
    report(diagnostic('SW1016', own.syntax.place, { decorator: own.name, what: 'a class' }));
  }
  for (const name of misspelt) {
    if (name in KINDS) into.faulty.push({ kind: KINDS[name as ClassDecorator], place: syntax.place });
  }
  if (first === undefined) {
    if (misspelt.length === 0) refuseFieldsWithoutWorkflow(syntax, report);
    return;
  }
  if (second !== undefined) {
    const what = `a class that is a ${KINDS[first.name]} already`;
    report(diagnostic('SW1016', second.syntax.place, { decorator: second.name, what }));
  }
  const faulty: FaultyClass = { kind: KINDS[first.name], place: syntax.place };
  if (isBroken) {
    into.faulty.push(faulty);
    return;
  }
  const { exportName, name: className, place } = syntax;
  const handle: ClassHandle = { file, className, place, ...defined({ exportName }) };
  // A registry imports no field of state and no agent: only their names and types are used.
  const isImported = first.name !== 'State' && first.name !== 'Agent';
  if (!syntax.exported && isImported) {
    const hint = syntax.isNested
      ? 'declare it at the top level of its module, with `export class`'
      : undefined;
    report(diagnostic('SW1010', place, { className }, { hint }));
  }
  const [part] = UNIMPORTABLE.exec(file) ?? [];
  if (part !== undefined && isImported) report(diagnostic('SW1033', place, { className, file, part }));
  const decorated: DecoratedClass = { syntax, handle, decorator: first.syntax, report };
  refuseCycles(syntax, cycles, file, report);
  checkShape(syntax, first.name, report);
  const isRead = declare(first.name, decorated, into);
  if (first.name !== 'Workflow' && first.name !== 'Prompt') refuseFieldsWithoutWorkflow(syntax, report);
  if (!isRead) into.faulty.push(faulty);
}

/** Reports a class of which no instance can be made as it is. */
function checkShape(
  { abstract, typeParameters }: ClassSyntax,
  decorator: ClassDecorator,
  report: Report,
): void {
  if (abstract !== undefined) {
    const hint = 'leave out `abstract`: the class itself is what is registered';
    report(diagnostic('SW1016', abstract, { decorator, what: 'an abstract class' }, { hint }));
  }
  if (typeParameters !== undefined) {
    const hint = 'write the types themselves: the class gets no type arguments';
    const params = { decorator, what: 'a class with type parameters' };
    report(diagnostic('SW1016', typeParameters, params, { hint }));
  }
}

/** Adds what a class declares; false where it cannot be read. */
function declare(decorator: ClassDecorator, decorated: DecoratedClass, into: MutableDeclarations): boolean {
  switch (decorator) {
    case 'Tool':
      into.tools.push(readTool(decorated));
      return true;
    case 'Resource': {
      const resource = readResource(decorated);
      if (resource !== undefined) into.resources.push(resource);
      return resource !== undefined;
    }
    case 'Workflow':
      into.workflows.push(readWorkflow(decorated));
      return true;
    case 'Prompt':
      into.prompts.push(readPrompt(decorated));
      return true;
    case 'State': {
      const state = readState(decorated);
      if (state !== undefined) into.states.push(state);
      return state !== undefined;
    }
    case 'Agent':
      into.agents.push(readAgent(decorated));
      return true;
    default:
      return decorator satisfies never;
  }
}

function refuseFieldsWithoutWorkflow(syntax: ClassSyntax, report: Report): void {
  const isOurs = [...syntax.fields, ...syntax.others].some(({ decorators }) =>
    decorators.some(({ callee }) => callee.kind === 'stepwright' && ['Arg', 'Step'].includes(callee.name)),
  );
  if (isOurs) report(diagnostic('SW1013', syntax.place, { className: syntax.name }));
}

/**
 * Reports what a decorator names at once although its module may not have run yet: the other module imports this one
 * as well, and it depends on the first import of all which of them runs first. Names inside functions are read later.
 */
function refuseCycles(
  { decorators, fields }: ClassSyntax,
  cycles: readonly ImportCycle[],
  file: string,
  report: Report,
): void {
  if (cycles.length === 0) return;
  for (const decorator of [...decorators, ...fields.flatMap((field) => field.decorators)]) {
    const { callee } = decorator;
    if (callee.kind !== 'stepwright' || !isDecoratorName(callee.name)) continue;
    for (const fault of cyclesIn(decorator, callee.name, cycles, file)) report(fault);
  }
}

function cyclesIn(
  { args }: DecoratorSyntax,
  decorator: string,
  cycles: readonly ImportCycle[],
  file: string,
): Diagnostic[] {
  return args.flatMap(namedAtOnce).flatMap((syntax) => {
    const symbol = symbolOf(syntax);
    const { constant = symbol?.name ?? '', file: module } =
      syntax.kind === 'literal'
        ? syntax
        : { file: symbol !== undefined && 'file' in symbol ? symbol.file : undefined };
    const cycle = cycles.find((each) => each.file === module);
    if (cycle === undefined) return [];
    const way = [file, ...cycle.back.map((each) => each.file), file].join(' → ');
    const related = cycle.back.map(({ file: importer, place }) => ({
      message: `\`${importer}\` imports here`,
      place,
    }));
    return diagnostic('SW1023', syntax.place, { name: constant, decorator, cycle: way }, { related });
  });
}

/** The names in an expression that are looked up when it is evaluated. Declared functions are there from the start. */
function namedAtOnce(syntax: ExpressionSyntax): readonly ExpressionSyntax[] {
  const inner = unwrap(syntax);
  if (inner.kind === 'arrow') return [];
  if (inner.kind === 'literal') return inner.file === undefined ? [] : [inner];
  const symbol = symbolOf(inner);
  if (symbol !== undefined) return symbol.kind === 'function' ? [] : [inner];
  return partsOf(inner).flatMap(namedAtOnce);
}
