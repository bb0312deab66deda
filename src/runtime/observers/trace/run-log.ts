import type { NodeInstance, ScopeInstance } from '../../../plan/instances.js';
import type { Fact, RunState } from '../../engine/contract.js';
import type { RunMask } from '../../hosts/run-mask.js';
import { textBlock } from './block.js';
import { ContainerLog } from './container-log.js';
import { tracedKindOf } from './kinds.js';
import type { Ledger } from './ledger.js';
import type { PromptMessage } from './messages.js';
import { PartLog } from './part-log.js';
import type { StepFact } from './step-log.js';
import { UndoLog } from './undo-log.js';

/** What a run has to say: each step at its place, what stands inside of a step with it. */
export class RunLog {
  readonly root = new PartLog();
  readonly #ledger: Ledger;
  readonly #secrets: RunMask;
  /** A cancelled run is being undone. */
  #undo: UndoLog | undefined;

  constructor(ledger: Ledger, secrets: RunMask) {
    this.#ledger = ledger;
    this.#secrets = secrets;
  }

  get all(): readonly PromptMessage[] {
    return this.root.all;
  }

  /** Takes the facts of steps, each once and in order. The ledger has taken them before. */
  observe(fact: StepFact, state: RunState): void {
    if (this.#undoes(fact)) return;
    const node = fact.node === undefined ? undefined : this.#ledger.find(fact.node);
    if (node === undefined) return;
    const { id } = node.planned.node;
    const { log: Log } = tracedKindOf(node.planned.node);
    const part = this.partOf(node.scope);
    part?.step(id, () => new Log(node, this.#secrets)).observe(fact, state);
    switch (fact.kind) {
      case 'nodeSucceeded':
      case 'nodeFailed':
      case 'nodeCancelled':
      case 'jumped':
        part?.close(id, rolledBackBy(node));
        return;
      case 'handled':
        // Where a value stands in, the node's success follows.
        if (fact.fallbackNode !== undefined) part?.close(id);
        return;
      default:
    }
  }

  /** Where the steps of a scope tell what they have to say; nowhere where the scope has not begun. */
  partOf(scope: ScopeInstance): PartLog | undefined {
    const { container } = scope;
    if (container === undefined) return this.root;
    const step = this.partOf(container.scope)?.open(container.planned.node.id);
    return step instanceof ContainerLog ? step.part(scope) : undefined;
  }

  /** Whether a fact is about the undoing of the run as a whole, which is told at the end. */
  #undoes(fact: Fact): boolean {
    if (fact.kind === 'compensating' && fact.node === undefined) {
      this.#undo = new UndoLog(this.#secrets, (role, part, text, meta = {}) =>
        this.root.say(textBlock(role, text, { 'stepwright/part': part, ...meta })),
      );
    }
    const isOfRun = fact.kind !== 'finished' && fact.node === undefined;
    if (this.#undo === undefined || !(isOfRun || this.#ledger.isCompensation(fact))) return false;
    this.#undo.observe(fact as StepFact);
    return true;
  }
}

/** The `parallel` that a node undoes for: it ends after that. */
function rolledBackBy({ planned }: NodeInstance): string | undefined {
  const { id } = planned.node;
  return planned.routers.find(({ node }) => node.kind === 'parallel' && node.compensateNode === id)?.node.id;
}
