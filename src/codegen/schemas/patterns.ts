import type { ValueRules } from '../../decorators/arg.js';
import { readPattern } from '../../formats/json-schema/pattern.js';
import { patternFaults } from '../../formats/json-schema/pattern-faults.js';
import { type Diagnostic, diagnostic } from '../../graph/diagnostics/diagnostic.js';
import { isJsonObject, type Json, type JsonSchema } from '../../graph/json.js';
import type { Place } from '../../graph/place.js';
import type { ArgDeclaration } from '../declarations.js';
import type { ExpressionSyntax } from '../syntax.js';
import { unwrap } from '../verbs.js';

/** Where patterns stand that are looked at here, and what they are part of. */
export interface PatternOwner {
  /** As the end of a sentence: "the input schema of tool `t`". */
  readonly owner: string;
  readonly place: Place;
}

/**
 * The patterns of a schema that cannot be matched at run time (SW6010). Those beside a `format` are left out: a library
 * wrote them, and the format says the same.
 */
export function schemaPatternDiagnostics(schema: JsonSchema, { owner, place }: PatternOwner): Diagnostic[] {
  return patternFaults(schema).flatMap(({ pointer, problem }) => {
    const { pattern, isOfFormat } = patternAt(schema, pointer);
    return isOfFormat ? [] : [diagnostic('SW6010', place, { path: pointer, owner, pattern, problem })];
  });
}

function patternAt(
  schema: JsonSchema,
  pointer: string,
): { readonly pattern: string; readonly isOfFormat: boolean } {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const nodes: Json[] = [schema];
  for (const key of keys) nodes.push(memberOf(nodes.at(-1), key));
  const value = nodes.at(-1);
  // A pattern is the value of `pattern`, or a key under `patternProperties`.
  if (typeof value !== 'string') return { pattern: keys.at(-1) ?? '', isOfFormat: false };
  const around = keys.at(-3) === 'allOf' ? [nodes.at(-2), nodes.at(-4)] : [nodes.at(-2)];
  return { pattern: value, isOfFormat: around.some((node) => typeof memberOf(node, 'format') === 'string') };
}

function memberOf(node: Json | undefined, key: string): Json {
  if (Array.isArray(node)) return (node[Number(key)] as Json | undefined) ?? null;
  return isJsonObject(node) && Object.hasOwn(node, key) ? (node[key] ?? null) : null;
}

/** The same for the rules that `@Arg` gives, each where it is written. */
export function argumentPatternDiagnostics(args: readonly ArgDeclaration[], owner: string): Diagnostic[] {
  return args.flatMap(({ name, place, options, optionSyntax }) => {
    const faults: Diagnostic[] = [];
    visitRules(options as ValueRules, optionSyntax, name, (path, pattern, at = place) => {
      const read = readPattern(pattern);
      if (!read.ok) faults.push(diagnostic('SW6010', at, { path, owner, pattern, problem: read.why }));
    });
    return faults;
  });
}

type OptionSyntax = Readonly<Record<string, ExpressionSyntax>>;

function visitRules(
  rules: ValueRules,
  syntax: OptionSyntax,
  path: string,
  see: (path: string, pattern: string, place: Place | undefined) => void,
): void {
  if (typeof rules.pattern === 'string') see(path, rules.pattern, syntax.pattern?.place);
  const written = entriesOf(syntax.properties);
  for (const [name, inner] of Object.entries(rules.properties ?? {}))
    visitRules(inner, entriesOf(written[name]), `${path}.${name}`, see);
}

function entriesOf(syntax: ExpressionSyntax | undefined): OptionSyntax {
  const object = syntax && unwrap(syntax);
  if (object?.kind !== 'object') return {};
  return Object.fromEntries(
    object.entries.flatMap((entry) => ('value' in entry ? [[entry.key, entry.value]] : [])),
  );
}
