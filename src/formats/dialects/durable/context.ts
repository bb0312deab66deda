import type { Expr } from '../../../graph/expression/tree.js';
import type { OwnPart } from '../../../graph/kinds/descriptor.js';
import type { Node, NodeBase } from '../../../graph/kinds/node.js';
import type { Input } from '../../../graph/model.js';
import { parseTemplate } from '../../jinja/parser.js';
import { hasTemplate, TemplateFaults } from '../../jinja/tokens.js';
import { type LocatedEntry, type LocatedMap, textsWithin } from '../../text/located.js';
import type { Reports } from '../../text/reading.js';
import type { Fields } from '../fields.js';
import type { Jumps } from './jumps.js';
import type { DeclaredState, State } from './state.js';
import { allSteps, type StepList, type StepSpec } from './steps.js';
import type { Templates } from './templates.js';

/** What the templates of a task read of its loop. */
const LOOP_NAMES = ['item', 'index', 'total', 'previous', 'results'] as const;
export type LoopName = (typeof LOOP_NAMES)[number];

export interface Task {
  readonly name: string;
  readonly at: LocatedEntry['key'];
  readonly fields: Fields;
  readonly inputs: readonly Input[];
  readonly root: StepList;
  readonly loopNames: readonly LoopName[];
  readonly hasReturn: boolean;
}

export function usesOf(map: LocatedMap, root: StepList): Pick<Task, 'loopNames' | 'hasReturn'> {
  const names = new Set<string>();
  for (const { value } of textsWithin(map)) {
    try {
      if (hasTemplate(value)) collectIn(parseTemplate(value, new TemplateFaults()), names);
    } catch {
      // Its fault is reported where the text is lowered.
    }
  }
  return {
    loopNames: LOOP_NAMES.filter((name) => names.has(name)),
    hasReturn: allSteps(root).some(({ type }) => type === 'return'),
  };
}

/** An input by which a task reads a part of its loop: no author can write its name. */
export function loopInput(name: LoopName): string {
  return `loop.${name}`;
}

export function loopReferences({ loopNames }: Pick<Task, 'loopNames'>): ReadonlyMap<string, Expr> {
  return new Map(
    loopNames.map((name) => [
      name,
      { kind: 'ref', root: 'inputs', path: [loopInput(name)], find: 'optional' },
    ]),
  );
}

/** What a loop gives its tasks beside what their authors name. */
export function loopInputs({ loopNames }: Pick<Task, 'loopNames'>): Input[] {
  return loopNames.map((name) => ({
    name: loopInput(name),
    description: `\`${name}\` of the loop`,
    schema: {},
    required: false,
  }));
}

function collectIn(part: unknown, names: Set<string>): void {
  if (typeof part !== 'object' || part === null) return;
  if ('kind' in part && part.kind === 'name' && 'name' in part) names.add(String(part.name));
  for (const inner of Object.values(part)) collectIn(inner, names);
}

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
