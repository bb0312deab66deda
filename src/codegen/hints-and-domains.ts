import { z } from 'zod';
import type { JsonDocument } from '../formats/text/json-document.js';
import { type Diagnostic, diagnostic } from '../graph/diagnostics/diagnostic.js';
import { pointerOf } from '../graph/json.js';
import type { Domain, Graph } from '../graph/model.js';
import { nearestName } from '../graph/names.js';
import type { SourceLocation } from '../graph/source-location.js';
import type { PlanningHints } from '../infer/tool.js';
import type { UpstreamConfig } from '../runtime/upstream/config.js';
import type { Phase, ToolDeclaration } from './declarations.js';

/** Hints of a tool of an upstream server, as the configuration has them. */
export interface ConfiguredHints {
  readonly server: string;
  /** By the server's own name. */
  readonly tool: string;
  readonly hints: PlanningHints;
  readonly places: HintPlaces;
}

/** Where the parts of hints are written. */
export interface HintPlaces {
  readonly tool: SourceLocation;
  readonly category: SourceLocation;
  /** One for each name. */
  readonly next: readonly SourceLocation[];
  readonly requires: readonly SourceLocation[];
}

/** The hints of a registry's tools, by the names that the registry gives tools. */
export interface LinkedHints<T = ToolDeclaration> {
  readonly hints: ReadonlyMap<T, PlanningHints>;
  /** For the tools whose hints the configuration has. */
  readonly places: ReadonlyMap<T, HintPlaces>;
}

export function configuredHints(upstream: UpstreamConfig, document: JsonDocument): ConfiguredHints[] {
  return Object.entries(upstream).flatMap(([server, { hints: ofServer = {} }]) =>
    Object.entries(ofServer).map(([tool, hints]) => {
      const place = (...path: readonly (string | number)[]) =>
        document.placeOf(pointerOf(['upstream', server, 'hints', tool, ...path]));
      const each = (hint: 'next' | 'requires') => (hints[hint] ?? []).map((_, index) => place(hint, index));
      const key = document.keyPlaceOf(pointerOf(['upstream', server, 'hints', tool]));
      const places = {
        tool: key,
        category: place('category'),
        next: each('next'),
        requires: each('requires'),
      };
      return { server, tool, hints: hints as PlanningHints, places };
    }),
  );
}

/**
 * Adds the hints of a configuration to those of classes; an option of the configuration wins. A server without a tool in
 * the registry has no hints in it.
 */
export function withConfiguredHints<T extends Pick<ToolDeclaration, 'name' | 'upstream'>>(
  declared: Phase<ReadonlyMap<T, PlanningHints>>,
  configured: readonly ConfiguredHints[],
  { tools }: { readonly tools: readonly T[] },
): Phase<LinkedHints<T>> {
  const hints = new Map(declared.value);
  const places = new Map<T, HintPlaces>();
  const diagnostics: Diagnostic[] = [...declared.diagnostics];
  const registryNames = tools.map(({ name }) => name);
  for (const argument of configured) {
    const { server, tool } = argument;
    const ofServer = new Map(
      tools.flatMap((each) =>
        each.upstream?.server === server ? [[each.upstream.tool, each] as const] : [],
      ),
    );
    if (ofServer.size === 0) continue;
    const report = (named: string, place: SourceLocation) => {
      const suggestion = nearestName(named, [...ofServer.keys()]);
      diagnostics.push(diagnostic('SW4043', place, { server, named, suggestion }));
    };
    const match = ofServer.get(tool);
    if (match === undefined) {
      report(tool, argument.places.tool);
      continue;
    }
    const linked = { next: [] as Named[], requires: [] as Named[] };
    for (const hint of ['next', 'requires'] as const) {
      for (const [index, named] of (argument.hints[hint] ?? []).entries()) {
        const place = argument.places[hint][index] ?? argument.places.tool;
        const name = ofServer.get(named)?.name ?? (registryNames.includes(named) ? named : undefined);
        if (name === undefined) report(named, place);
        else linked[hint].push({ name, place });
      }
    }
    const { next, requires, ...literals } = argument.hints;
    hints.set(match, {
      ...hints.get(match),
      ...literals,
      ...(next === undefined ? {} : { next: linked.next.map(({ name }) => name) }),
      ...(requires === undefined ? {} : { requires: linked.requires.map(({ name }) => name) }),
    });
    const placesOf = (named: readonly Named[]) => named.map(({ place }) => place);
    places.set(match, {
      ...argument.places,
      next: placesOf(linked.next),
      requires: placesOf(linked.requires),
    });
  }
  return { value: { hints, places }, diagnostics };
}

interface Named {
  readonly name: string;
  readonly place: SourceLocation;
}

const sentence = z.string().regex(/\S/, 'must not be empty');

const domainSchema = z.strictObject({
  name: sentence.describe('The domain, as the workflows name it.'),
  rules: z.array(sentence).default([]).describe('What holds for all of its workflows, a sentence each.'),
  docs: sentence.exactOptional().describe('What their users should know, as Markdown.'),
});

/** What a configuration says about domains: the shape of the option `domains` of a server, where rules may be missing. */
export const domainsSchema = z.array(domainSchema).superRefine((domains, context) => {
  for (const [index, { name }] of domains.entries()) {
    if (domains.findIndex((each) => each.name === name) === index) continue;
    const message = `there are two domains \`${name}\`: write the rules and documents of both in one`;
    context.addIssue({ code: 'custom', path: [index, 'name'], message });
  }
});

export const DOMAIN_SETTINGS: readonly string[] = Object.keys(domainSchema.shape);

/**
 * Warns of settings that no registry of the project uses: domains without workflows, and hints without tools.
 *
 * @param servers the upstream servers that have a tool in some registry.
 */
export function unusedSettings(
  { domains = [], domainPlaces = [], hints = [] }: Settings,
  workflows: readonly Pick<Graph, 'domain'>[],
  servers: ReadonlySet<string>,
): Diagnostic[] {
  const existing = new Set(workflows.map(({ domain = 'default' }) => domain));
  const unused = hints.filter(({ server }) => !servers.has(server));
  // One warning for each server, at its first hint.
  const first = new Map(unused.toReversed().map((each) => [each.server, each]));
  return [
    ...domains.flatMap(({ name: domain }, index) => {
      if (existing.has(domain)) return [];
      return [
        diagnostic('SW4044', domainPlaces[index], { domain, suggestion: nearestName(domain, [...existing]) }),
      ];
    }),
    ...[...first.values()].map(({ server, places }) => diagnostic('SW4045', places.tool, { server })),
  ];
}

interface Settings {
  readonly domains?: readonly Domain[];
  readonly domainPlaces?: readonly SourceLocation[];
  readonly hints?: readonly ConfiguredHints[];
}
