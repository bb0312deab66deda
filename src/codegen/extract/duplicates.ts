import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import type { Place } from '../../graph/place.js';
import type { FaultyClass } from '../declarations.js';
import type { MutableDeclarations } from './collected.js';

/** Keeps the first of several declarations with one name or address, and reports the others with both places. */
export function refuseDuplicates(
  declarations: MutableDeclarations,
  report: (diagnostic: Diagnostic) => void,
): void {
  const tools = splitBy('name', declarations.tools);
  const resources = splitBy('name', declarations.resources);
  const addresses = splitBy('uri', resources.firsts);
  const workflows = splitBy('name', declarations.workflows);
  const states = splitBy('name', declarations.states);

  const prompts = splitBy('name', declarations.prompts);
  // A client knows workflows as prompts.
  const taken = new Map(workflows.firsts.map((workflow) => [workflow.name, workflow]));
  const shared = prompts.firsts.flatMap((second): Pair<Named>[] => {
    const first = taken.get(second.name);
    return first === undefined ? [] : [{ first, second }];
  });

  const sameName = (kind: FaultyClass['kind'], { first, second }: Pair<Named>): void => {
    report(diagnostic('SW1004', second.namePlace, { kind, name: second.name }, other(first.namePlace)));
    declarations.faulty.push({ kind, place: second.place });
  };
  for (const pair of tools.pairs) sameName('tool', pair);
  for (const pair of resources.pairs) sameName('resource', pair);
  for (const { first, second } of addresses.pairs) {
    report(diagnostic('SW1015', second.uriPlace, { uri: second.uri }, other(first.uriPlace)));
    declarations.faulty.push({ kind: 'resource', place: second.place });
  }
  for (const pair of workflows.pairs) {
    sameName('workflow', pair);
    declarations.faultyWorkflows.push(pair.second);
  }
  for (const pair of states.pairs) sameName('state', pair);
  for (const pair of [...prompts.pairs, ...shared]) sameName('prompt', pair);
  declarations.tools = tools.firsts;
  declarations.resources = addresses.firsts;
  declarations.workflows = workflows.firsts;
  declarations.states = states.firsts;
  declarations.prompts = prompts.firsts.filter(({ name }) => !taken.has(name));
}

interface Named {
  readonly name: string;
  readonly namePlace: Place;
  readonly place: Place;
}

interface Pair<T> {
  readonly first: T;
  readonly second: T;
}

function splitBy<K extends string, T extends { readonly [P in K]: string }>(
  key: K,
  all: readonly T[],
): { readonly firsts: T[]; readonly pairs: readonly Pair<T>[] } {
  const firsts = new Map<string, T>();
  const pairs: Pair<T>[] = [];
  for (const second of all) {
    const first = firsts.get(second[key]);
    if (first === undefined) firsts.set(second[key], second);
    else pairs.push({ first, second });
  }
  return { firsts: [...firsts.values()], pairs };
}

function other(place: Place) {
  return { related: [{ message: 'the other one is here', place }] };
}
