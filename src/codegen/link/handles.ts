import { type Diagnostic, diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import type { JsonSchema } from '../../graph/json.js';
import { getOrInsert } from '../../graph/maps.js';
import type { FunctionRef } from '../../graph/model.js';
import { nearestName } from '../../graph/names.js';
import { sha256Hex } from '../../graph/sha256.js';
import { formatLocation, type SourceLocation } from '../../graph/source-location.js';
import type { PlanningHints } from '../../infer/tool.js';
import type {
  AgentDeclaration,
  ClassHandle,
  Declarations,
  FaultyClass,
  FunctionHandle,
  Phase,
  ResourceDeclaration,
  StateDeclaration,
  ToolDeclaration,
  WorkflowDeclaration,
} from '../declarations.js';
import {
  type ExpressionSyntax,
  type FunctionSymbol,
  type ImportedModule,
  importKey,
  type PackageImport,
  type SchemaSyntax,
  type SymbolSyntax,
} from '../syntax.js';
import { allPartsOf, symbolOf, unwrap, VERBS } from '../verbs.js';
import { print } from './describe.js';

/** Finds the class that a verb or an option names; nothing if it is of another kind, which has been reported. */
type Find<T> = (syntax: ExpressionSyntax | undefined, verb: string, at: SourceLocation) => T | undefined;

/** Resolves the classes that verbs, texts and options name. */
export interface Handles {
  readonly tool: Find<ToolDeclaration>;
  readonly resource: Find<ResourceDeclaration>;
  readonly workflow: Find<WorkflowDeclaration>;
  readonly state: Find<StateDeclaration>;
  readonly agent: Find<AgentDeclaration>;
  /** The text for a class: the name of a tool or workflow, the address of a resource. */
  text(syntax: ExpressionSyntax, verb?: string): string | undefined;
  /** The private tools that a text names, in its order. */
  privateToolsIn(text: string): readonly string[];
  /** The JSON Schema of the reply of an agent that is written in a file; undefined where it cannot be made. */
  response(file: string, schema: SchemaSyntax): JsonSchema | undefined;
  /** True for a name whose module has syntax errors: what it means is not known, and it is not reported. */
  isExcused(symbol: SymbolSyntax | undefined): boolean;
}

/** Indexes the declarations. Classes are identified by the location of their name, since names may be equal. */
export function handlesOf(
  declarations: Declarations,
  report: Report,
  response: Handles['response'] = () => undefined,
): Handles {
  const tools = indexByPlace(declarations.tools);
  const resources = indexByPlace(declarations.resources);
  const states = indexByPlace(declarations.states);
  const agents = indexByPlace(declarations.agents);
  const workflows = indexByPlace(declarations.workflows);
  const faulty = new Set(declarations.faulty.map(faultyKey));
  const files = new Set(declarations.files);
  const broken = declarations.brokenFiles;

  const isExcused = (symbol: SymbolSyntax | undefined): boolean =>
    symbol?.kind === 'unresolved' && (symbol.from?.files.some((file) => broken.has(file)) ?? false);
  const packageFault = (imported: PackageImport | undefined) =>
    imported && declarations.packageFaults?.get(importKey(imported));
  const verbFor = (key: string): (typeof VERBS_OF)[number] | undefined => {
    const kinds = { tool: tools, workflow: workflows, resource: resources, state: states, agent: agents };
    return VERBS_OF.find(({ kind }) => kinds[kind].has(key));
  };
  const classOf = (syntax: ExpressionSyntax, existing: () => Iterable<Known>): ClassSymbol | undefined => {
    const symbol = symbolOf(syntax);
    if (symbol?.kind === 'class' && symbol.typeOnly === undefined) return symbol;
    const fault = symbol?.kind === 'unresolved' ? packageFault(symbol.from?.imported) : undefined;
    if (!isExcused(symbol)) report(fault?.(syntax.place) ?? notAClass(syntax, symbol, [...existing()]));
    return undefined;
  };
  const refuse = (syntax: ExpressionSyntax, symbol: ClassSymbol, expected: string, verb: string): void => {
    const fault = packageFault(symbol.imported);
    if (fault !== undefined) {
      report(fault(syntax.place));
      return;
    }
    // In an option a class is named without a verb.
    const isInStep = VERBS.some((each) => each === verb);
    const instead = isInStep ? verbFor(formatLocation(symbol.place)) : undefined;
    const hint =
      files.has(symbol.file) || instead !== undefined
        ? instead && `it is ${instead.what}: write \`${instead.write(symbol.name)}\``
        : `codegen does not read \`${symbol.file}\`: add it to the configured sources`;
    const related = [{ message: 'declared here', place: symbol.place }];
    report(diagnostic('SW3003', syntax.place, { className: symbol.name, expected, verb }, { related, hint }));
  };
  const isFaulty = (kind: FaultyClass['kind'], { place }: ClassSymbol): boolean =>
    faulty.has(faultyKey({ kind, place }));

  const find =
    <T extends Known>(index: ReadonlyMap<string, T>, expected: (typeof VERBS_OF)[number]['kind']): Find<T> =>
    (syntax, verb, at) => {
      if (syntax === undefined) {
        const hint = `give \`${verb}\` the class of ${VERBS_OF.find(({ kind }) => kind === expected)?.what}`;
        report(diagnostic('SW3007', at, { className: `${verb}()` }, { hint }));
        return undefined;
      }
      const symbol = classOf(syntax, () => index.values());
      if (symbol === undefined) return undefined;
      const match = index.get(formatLocation(symbol.place));
      if (match === undefined && !isFaulty(expected, symbol)) refuse(syntax, symbol, expected, verb);
      return match;
    };
  const privateTools = declarations.tools.filter(isPrivate).map(({ name }) => name);
  return {
    isExcused,
    response,
    privateToolsIn: (text) => privateTools.filter((name) => mentions(text, name)),
    tool: find(tools, 'tool'),
    resource: find(resources, 'resource'),
    workflow: find(workflows, 'workflow'),
    state: find(states, 'state'),
    agent: find(agents, 'agent'),
    text: (syntax, verb = 'prompt') => {
      const candidates = () => [...tools.values(), ...workflows.values(), ...resources.values()];
      const symbol = classOf(syntax, candidates);
      if (symbol === undefined) return undefined;
      const key = formatLocation(symbol.place);
      const tool = tools.get(key);
      if (tool !== undefined && isPrivate(tool))
        report(diagnostic('SW3017', syntax.place, { tool: tool.name }));
      const target = tool?.name ?? workflows.get(key)?.name ?? resources.get(key)?.uri;
      const exists = (['tool', 'workflow', 'resource'] as const).some((kind) => isFaulty(kind, symbol));
      if (target === undefined && !exists) refuse(syntax, symbol, 'handle', verb);
      return target;
    },
  };
}

function isPrivate({ visibility }: ToolDeclaration): boolean {
  return visibility === 'workflow';
}

/** Whether a text mentions a tool. A name that is a plain word may mean the word. */
function mentions(text: string, name: string): boolean {
  if (/^[A-Za-z]+$/.test(name)) return text.includes(`\`${name}\``);
  return text.split(/[^A-Za-z0-9_.-]+/).some((word) => word === name || word.replace(/\.+$/, '') === name);
}

/** How the class of each kind is used in a step. */
const VERBS_OF: readonly {
  readonly kind: 'tool' | 'workflow' | 'resource' | 'state' | 'agent';
  readonly what: string;
  readonly write: (name: string) => string;
}[] = [
  { kind: 'tool', what: 'a tool', write: (name: string) => `call(${name}, { … })` },
  { kind: 'workflow', what: 'a workflow', write: (name: string) => `run(${name}, { … })` },
  { kind: 'resource', what: 'a resource', write: (name: string) => `read(${name})` },
  { kind: 'state', what: 'a field of state', write: (name: string) => `get(${name})` },
  { kind: 'agent', what: 'an agent', write: (name: string) => `delegate(${name}, '…')` },
];

type ClassSymbol = Extract<SymbolSyntax, { kind: 'class' }>;

/** A class that could have been meant. */
type Known = Pick<ClassHandle, 'className' | 'file'>;

/** How many of a module's classes a hint lists. */
const MAX_LISTED = 5;

function notAClass(
  syntax: ExpressionSyntax,
  symbol: SymbolSyntax | undefined,
  existing: readonly Known[],
): Diagnostic {
  const handle = unwrap(syntax);
  const className = print(handle);
  switch (symbol?.kind) {
    case 'unresolved':
      return symbol.from === undefined
        ? notImported(syntax, className, existing)
        : notExported(syntax.place, symbol.from, existing);
    case 'class': {
      const hint = `it is imported as a type only: write \`import { ${className} }\``;
      return diagnostic('SW3007', syntax.place, { className }, { hint });
    }
    default: {
      const what = handle.kind === 'unsupported' ? handle.unsupported : undefined;
      const hint =
        what === undefined
          ? 'name the class itself: handles are not computed, copied or instantiated'
          : `it is ${what}: name the class itself, which is not computed, copied or instantiated`;
      return diagnostic('SW3007', syntax.place, { className }, { hint });
    }
  }
}

/** A name that resolves to nothing: a misspelt class, or one whose import is missing. */
function notImported(syntax: ExpressionSyntax, className: string, existing: readonly Known[]): Diagnostic {
  const file = existing.find((each) => each.className === className)?.file;
  const names = existing.map((each) => each.className);
  const suggestion = file === undefined ? nearestName(className, names) : undefined;
  const hint = file === undefined || file === syntax.place.file ? undefined : `import it from \`${file}\``;
  return diagnostic('SW3007', syntax.place, { className, suggestion }, { hint });
}

/** A name that its module does not export. */
function notExported(
  place: SourceLocation,
  { specifier, name, exports }: ImportedModule,
  existing: readonly Known[],
): Diagnostic {
  const named = (exports ?? []).filter((each) => each.isClass && each.name !== 'default');
  const classes = named.map((each) => each.name);
  const suggestion = nearestName(name, classes);
  const listed = classes.slice(0, MAX_LISTED).map((each) => `\`${each}\``);
  const isListed = suggestion === undefined && listed.length > 0;
  const more = classes.length > listed.length ? ', …' : '';
  const elsewhere = existing.find(({ className }) => className === name)?.file;
  const exported = isListed ? `the classes it exports are ${listed.join(', ')}${more}` : undefined;
  const hint = elsewhere === undefined ? exported : `import it from \`${elsewhere}\``;
  const module = { specifier, exists: exports !== undefined };
  return diagnostic('SW3007', place, { className: name, module, suggestion }, { hint });
}

function indexByPlace<T extends { readonly place: SourceLocation }>(
  declarations: readonly T[],
): ReadonlyMap<string, T> {
  return new Map(declarations.map((declaration) => [formatLocation(declaration.place), declaration]));
}

function faultyKey({ kind, place }: FaultyClass): string {
  return `${kind} ${formatLocation(place)}`;
}

/** Finds the tools that the hints of tools name. Tools without hints are missing. */
export function linkHints(declarations: Declarations): Phase<ReadonlyMap<ToolDeclaration, PlanningHints>> {
  const diagnostics: Diagnostic[] = [];
  const handles = handlesOf(declarations, (fault) => void diagnostics.push(fault));
  const namesOf = (classes: readonly ExpressionSyntax[]): readonly string[] =>
    classes.flatMap((syntax) => handles.tool(syntax, 'hints', syntax.place)?.name ?? []);
  const value = new Map<ToolDeclaration, PlanningHints>();
  for (const tool of declarations.tools) {
    if (tool.hints === undefined) continue;
    const { next, requires, categoryPlace: _, ...literals } = tool.hints;
    value.set(tool, {
      ...literals,
      ...(next === undefined ? {} : { next: namesOf(next) }),
      ...(requires === undefined ? {} : { requires: namesOf(requires) }),
    });
  }
  return { value, diagnostics };
}

/** The functions that workflows name, over all of a registry. */
export class Functions {
  readonly #report: Report;
  readonly #handles = new Map<string, FunctionHandle>();
  /** By the name it is exported by, the modules of the functions that a workflow mentions. */
  readonly #modules = new Map<string, Set<string>>();

  constructor(workflows: readonly WorkflowDeclaration[], report: Report) {
    this.#report = report;
    for (const workflow of workflows) {
      for (const symbol of functionsOf(workflow)) {
        const name = exportedName(symbol);
        getOrInsert(this.#modules, name, () => new Set<string>()).add(symbol.file);
      }
    }
  }

  /** The function as a graph names it; nothing where a registry cannot import it, which is reported. */
  refer(symbol: FunctionSymbol, at: SourceLocation): FunctionRef | undefined {
    const { exportName, why, file, place } = symbol;
    if (callsVerb(symbol, at, this.#report)) return undefined;
    if (why !== undefined || exportName === undefined) {
      const params = { name: symbol.name, why: why ?? 'its module does not export it' };
      this.#report(diagnostic('SW2004', at, params, { hint: hintFor(symbol) }));
      return undefined;
    }
    const name = this.#nameOf(exportedName(symbol), file);
    const hash = sha256Hex(symbol.source);
    this.#handles.set(name, { name, ownName: exportedName(symbol), hash, file, exportName, place });
    return { name, hash };
  }

  /** Its own name where no other function of the registry has it, else with its module before it. */
  #nameOf(name: string, file: string): string {
    const isShared = (this.#modules.get(name)?.size ?? 0) > 1;
    return isShared ? `${file.replace(/[#%\s]/g, encodeURIComponent)}#${name}` : name;
  }

  /** Whether a function has the name that it had in an earlier run. */
  isNamed({ name, ownName, file }: FunctionHandle): boolean {
    return name === this.#nameOf(ownName, file);
  }

  named(names: readonly string[]): readonly FunctionHandle[] {
    return [...new Set(names)].flatMap((name) => this.#handles.get(name) ?? []);
  }
}

/** Reports a function that calls a verb: verbs throw everywhere but in a workflow class, where codegen reads them. */
export function callsVerb({ name, verb }: FunctionSymbol, at: SourceLocation, report: Report): boolean {
  if (verb === undefined) return false;
  const related = [{ message: `\`${verb.name}\` is called here`, place: verb.place }];
  report(diagnostic('SW2007', at, { name, verb: verb.name }, { related }));
  return true;
}

/** Walked once for a declaration that several runs share. */
const functions = new WeakMap<WorkflowDeclaration, readonly FunctionSymbol[]>();

function functionsOf(workflow: WorkflowDeclaration): readonly FunctionSymbol[] {
  return getOrInsert(functions, workflow, () =>
    workflow.steps.flatMap(({ initializer }) => functionsIn(initializer)),
  );
}

/** The functions that an expression mentions, called or passed. */
function functionsIn(syntax: ExpressionSyntax): readonly FunctionSymbol[] {
  return allPartsOf(syntax).flatMap((part) => {
    const symbol = symbolOf(part);
    return symbol?.kind === 'function' && symbol.exportName !== undefined ? symbol : [];
  });
}

/** The name of an export; of a default export, the name of its declaration. */
function exportedName({ exportName, name }: FunctionSymbol): string {
  return exportName === undefined || exportName === 'default' ? name : exportName;
}

/** Nothing where the diagnostic's own hint, to export it, is the repair. */
function hintFor({ exportName, why }: FunctionSymbol): string | undefined {
  if (exportName === undefined && why !== 'its source is not part of the project') return undefined;
  return 'write a function of your own that computes the value at once, and export it at the top level';
}
