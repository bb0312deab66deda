import { diagnostic, type Report } from '../../graph/diagnostics/diagnostic.js';
import { isPortableName, isValidName, NAME_RULES } from '../../graph/names.js';
import type { SourceLocation } from '../../graph/source-location.js';
import type { Declarations, FaultyClass } from '../declarations.js';

/** The name of a class that has none, or none that may be used; every such class gets a replacement. */
export const UNNAMED = '';

/** Declarations while they are being collected. */
export type MutableDeclarations = {
  -readonly [K in
    | 'tools'
    | 'resources'
    | 'workflows'
    | 'prompts'
    | 'states'
    | 'agents'
    | 'faulty']: Declarations[K][number][];
};

/** Whether a class, or an argument for its callers, may have this name; reports it if not, or if some hosts refuse it. */
export function checkName(
  kind: 'tool' | 'resource' | 'workflow' | 'prompt' | 'state' | 'agent' | 'argument',
  name: string,
  place: SourceLocation,
  report: Report,
): boolean {
  if (!isValidName(kind, name)) {
    report(diagnostic('SW1002', place, { kind, name, rule: `\`${NAME_RULES[kind].source}\`` }));
    return false;
  }
  const isCalled = kind === 'tool' || kind === 'prompt';
  if (isCalled && !isPortableName(name)) report(diagnostic('SW1050', place, { kind, name }));
  return true;
}

/** Whether a field may be an argument or a step, which are reached as `this.name`; reports it if not. */
export function checkField(
  kind: 'argument' | 'step',
  name: string,
  place: SourceLocation,
  report: Report,
): boolean {
  if (isValidName('binding', name)) return true;
  const isComputed = /^[[#'"]/.test(name);
  const rule = isComputed ? 'an identifier that is written out' : 'an identifier other than `__proto__`';
  const also = kind === 'argument' ? ', and say the name for callers as the option `name` of @Arg' : '';
  report(diagnostic('SW1002', place, { kind, name, rule: `${rule}${also}` }));
  return false;
}

/** Whether a node may have this id; reports it if not. */
export function checkId(id: string, place: SourceLocation, report: Report): boolean {
  if (isValidName('step', id)) return true;
  report(
    diagnostic('SW1002', place, { kind: 'step', name: id, rule: 'an identifier, with `.` and `-` inside' }),
  );
  return false;
}

/**
 * Reports declarations that share a name or an address, with both places. Each keeps a name of its own, or gets one
 * that replaces it: what uses the second of two is checked against the second.
 */
export function refuseDuplicates(declarations: MutableDeclarations, report: Report): void {
  const { resources } = declarations;
  declarations.tools = withOwnNames('tool', declarations.tools, report);
  declarations.resources = withOwnNames('resource', resources, report);
  for (const { first, second } of pairsIn(declarations.resources, ({ uri }) => uri)) {
    // Two classes of one name and one address are one fault.
    const name = namedIn(resources, second);
    const isReported = name !== UNNAMED && name === namedIn(resources, first);
    if (!isReported)
      report(diagnostic('SW1015', second.uriPlace, { uri: second.uri }, other(first.uriPlace)));
  }
  declarations.workflows = withOwnNames('workflow', declarations.workflows, report);
  declarations.states = withOwnNames('state', declarations.states, report);
  declarations.agents = withOwnNames('agent', declarations.agents, report);
  // A client knows workflows as prompts.
  declarations.prompts = withOwnNames('prompt', declarations.prompts, report, declarations.workflows);
}

interface Named {
  readonly name: string;
  readonly namePlace: SourceLocation;
  readonly className: string;
  readonly place: SourceLocation;
}

interface Pair<T> {
  readonly first: T;
  readonly second: T;
}

/** @param others what may not have a name of these either. */
function withOwnNames<T extends Named>(
  kind: FaultyClass['kind'],
  all: readonly T[],
  report: Report,
  others: readonly Named[] = [],
): T[] {
  const named = all.filter(({ name }) => name !== UNNAMED);
  const pairs = pairsIn<Named>([...others, ...named], ({ name }) => name);
  for (const { first, second } of pairs)
    report(diagnostic('SW1004', second.namePlace, { kind, name: second.name }, other(first.namePlace)));
  const seconds = new Set(pairs.map(({ second }) => second));
  const used = new Set([...others, ...named].map(({ name }) => name));
  return all.map((each) => {
    if (each.name !== UNNAMED && !seconds.has(each)) return each;
    const ownName = kind === 'agent' ? `@${nameOf(each.className)}` : nameOf(each.className);
    const name = freeName(each.name === UNNAMED ? ownName : each.name, used);
    used.add(name);
    return { ...each, name };
  });
}

/** Each that has the key of an earlier one, with the first of these. */
function pairsIn<T>(all: readonly T[], keyOf: (each: T) => string): readonly Pair<T>[] {
  const firsts = new Map<string, T>();
  const pairs: Pair<T>[] = [];
  for (const second of all) {
    const first = firsts.get(keyOf(second));
    if (first === undefined) firsts.set(keyOf(second), second);
    else pairs.push({ first, second });
  }
  return pairs;
}

/** `AddLine` is `add-line`. */
function nameOf(className: string): string {
  const words = className.replace(/[^A-Za-z0-9]+/g, '-').replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-');
  return /[a-z].*/.exec(words.toLowerCase())?.[0].slice(0, 50) ?? 'unnamed';
}

function freeName(base: string, used: ReadonlySet<string>): string {
  let name = base;
  for (let count = 2; used.has(name); count++) name = `${base.slice(0, 50)}-${count}`;
  return name;
}

/** What a declaration was named before names were made distinct. */
function namedIn(all: readonly Named[], { place }: Named): string | undefined {
  return all.find((each) => each.place === place)?.name;
}

function other(place: SourceLocation) {
  return { related: [{ message: 'the other one is here', place }] };
}
