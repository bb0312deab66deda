import type { ReferenceLowering } from '../references/lower-references.js';
import type { Reports } from '../text/reading.js';
import type { Namespace } from './namespace.js';
import type { NodeSpec, ScopeSpec } from './node-specs.js';
import type { WrittenRoutes } from './routes.js';

/** What the nodes of a workflow share while they are lowered. */
export interface LoweringContext {
  readonly reports: Reports;
  readonly names: Namespace;
  readonly routesOf: (scope: ScopeSpec) => WrittenRoutes;
  /** Every node of the workflow. */
  readonly nodes: readonly NodeSpec[];
}

/** What one node is lowered with. */
export interface NodeContext extends LoweringContext {
  readonly spec: NodeSpec;
  readonly references: ReferenceLowering;
  /** The nodes of its list that it may select, by id. */
  readonly siblings: readonly string[];
}
