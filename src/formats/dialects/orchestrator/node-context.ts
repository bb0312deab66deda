import type { DictExpr } from '../../../graph/expression/tree.js';
import type { ReferenceLowering } from '../../references/lower-references.js';
import { parseReferences } from '../../references/parse-references.js';
import { type LocatedMap, type LocatedText, rangeIn } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import type { Fields } from '../fields.js';
import { checkLiteral } from './names.js';
import type { Namespace } from './namespace.js';
import type { NodeSpec, ScopeSpec } from './node-specs.js';
import type { WrittenRoutes } from './routes.js';

/** The state that the nodes of a workflow share while they are lowered. */
export interface LoweringContext {
  readonly reports: Reports;
  readonly names: Namespace;
  readonly routesOf: (scope: ScopeSpec) => WrittenRoutes;
  /** Every node of the workflow. */
  readonly nodes: readonly NodeSpec[];
}

export interface NodeContext extends LoweringContext {
  readonly spec: NodeSpec;
  readonly references: ReferenceLowering;
  /** The nodes of its list that it may select, by id. */
  readonly siblings: readonly string[];
}

/** The name of a tool or a workflow, which takes no reference. */
export function literalName(context: NodeContext, key: string): LocatedText | undefined {
  const name = context.spec.fields.text(key);
  if (name === undefined) {
    context.spec.fields.require(key);
    return undefined;
  }
  return checkLiteral(context.reports, name, key) ? name : undefined;
}

export function argumentsOf({ references, reports }: NodeContext, fields: Fields): DictExpr {
  const args = fields.object('args');
  if (args === undefined) return { kind: 'dict', entries: [] };
  reportInterpolations(reports, args);
  return references.dict(args);
}

/** Arguments in which a value may become more than a value, and what to write instead. */
const RISKS: readonly {
  readonly keys: RegExp;
  readonly what: string;
  readonly instead: (path: string | undefined) => string;
}[] = [
  {
    keys: /^(?:path|url|endpoint)$/,
    what: 'an address',
    instead: (path) =>
      `write \`\${${path === undefined ? 'uri(…)' : `${path}|uri`}}\`, so that it stays one part of the address`,
  },
  {
    keys: /^(?:sql|query)$/,
    what: 'a query',
    instead: () => 'give it to the tool as a parameter of the query',
  },
  { keys: /^command$/, what: 'a command', instead: () => 'give it to the tool as an argument of its own' },
];

/** Reports references inside the texts of addresses, queries and commands. A value may be the whole text. */
function reportInterpolations(reports: Reports, args: LocatedMap): void {
  for (const { key, value } of args.entries) {
    const risk = RISKS.find(({ keys }) => keys.test(key.value));
    if (value.kind === 'map') reportInterpolations(reports, value);
    if (risk === undefined || value.kind !== 'text') continue;
    const parts = parseReferences(value.value);
    if (parts.length < 2) continue;
    for (const part of parts) {
      if (typeof part === 'string' || 'problem' in part) continue;
      if ('inner' in part ? /^\s*uri\(/.test(value.value.slice(part.inner.start)) : part.filter === 'uri')
        continue;
      const ref = value.value.slice(part.start, part.end);
      const path = 'inner' in part ? undefined : [part.name, ...part.keys].join('.');
      reports.report('SW5033', rangeIn(value, part.start, part.end), {
        ref,
        key: key.value,
        what: risk.what,
        instead: risk.instead(path),
      });
    }
  }
}
