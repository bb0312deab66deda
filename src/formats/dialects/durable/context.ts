import type { Expr } from '../../../graph/expression/tree.js';
import type { OwnPart } from '../../../graph/kinds/descriptor.js';
import type { Node, NodeBase } from '../../../graph/kinds/node.js';
import type { Reports } from '../../text/reading.js';
import type { Jumps } from './jumps.js';
import type { DeclaredState, State } from './state.js';
import type { StepSpec } from './steps.js';
import type { Task } from './tasks.js';
import type { Templates } from './templates.js';

/** What the steps of a workflow or task share. */
export interface StepsContext {
  readonly reports: Reports;
  readonly inputs: readonly string[];
  readonly state: State;
  readonly jumps: Jumps;
  readonly tasks: ReadonlyMap<string, Task>;
  /** Names of templates beside `inputs` and `state`: those of an item in a task. */
  readonly names: ReadonlyMap<string, Expr>;
}

/** One step and what its templates may name. */
export interface StepContext extends StepsContext {
  readonly spec: StepSpec;
  readonly templates: Templates;
  readonly declared: DeclaredState;
}

/** The part of a node that its step decides, and who executes it. */
export type StepPart = OwnPart<Node> & Partial<Pick<NodeBase, 'id' | 'executor' | 'timeoutMs' | 'guidance'>>;
