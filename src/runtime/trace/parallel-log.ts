import type { ScopeInstance } from '../../plan/instances.js';
import { constructTexts } from './construct-texts.js';
import { ContainerLog, PartLog } from './container-log.js';
import type { BlockMeta, PromptMessage } from './messages.js';
import type { FactOf, StepFact } from './step-log.js';
import { UndoLog } from './undo-log.js';

type Outcome = FactOf<'partEnded'>['outcome'];

/** Branches that run side by side: what each has to say stands together, in the order of declaration. */
export class ParallelLog extends ContainerLog {
  readonly #logs = new Map<string, PartLog>();
  readonly #outcomes = new Map<string, Outcome>();
  readonly #undo = new UndoLog(this.secrets, (...told) => this.say(...told), this.instance);
  #hasBegun = false;

  override part({ plan }: ScopeInstance): PartLog {
    return this.#log(plan.arm ?? '');
  }

  protected override tell(fact: StepFact): void {
    switch (fact.kind) {
      case 'partStarted':
        this.#announce();
        this.#log(fact.arm ?? '');
        return;
      case 'partEnded':
        this.#outcomes.set(fact.arm ?? '', fact.outcome);
        return;
      case 'compensating':
        this.closeParts();
        break;
      default:
    }
    this.#undo.observe(fact);
  }

  protected override succeeded(): void {
    const failed = [...this.#outcomes].flatMap(([arm, { status }]) => (status === 'failed' ? [arm] : []));
    const { id } = this.node;
    const inOrder = this.#branches().filter((arm) => failed.includes(arm));
    this.closeParts();
    if (failed.length > 0) this.say('assistant', 'group', constructTexts.withoutFailed(id, inOrder));
  }

  protected override inside(): readonly PromptMessage[] {
    const begun = this.#branches().filter((arm) => this.#logs.has(arm));
    const left = this.#branches().filter((arm) => !this.#logs.has(arm));
    const isOver = this.#logs.size > 0 && this.#outcomes.size === this.#logs.size;
    return [
      ...begun.flatMap((arm) => this.#told(arm)),
      ...(isOver && left.length > 0
        ? [this.message('skip', constructTexts.branchNotBegun(left, this.node.id))]
        : []),
    ];
  }

  protected override forgetParts(): void {
    this.#logs.clear();
    this.#outcomes.clear();
    this.#hasBegun = false;
  }

  #log(arm: string): PartLog {
    const known = this.#logs.get(arm);
    if (known !== undefined) return known;
    const log = new PartLog();
    this.#logs.set(arm, log);
    return log;
  }

  #announce(): void {
    if (this.#hasBegun || this.node.kind !== 'parallel') return;
    this.#hasBegun = true;
    const { id, concurrency = Number.POSITIVE_INFINITY } = this.node;
    this.say('assistant', 'group', constructTexts.branches(id, this.#branches(), concurrency));
  }

  #told(arm: string): PromptMessage[] {
    const { id } = this.node;
    const said = this.#logs.get(arm)?.all ?? [];
    const outcome = this.#outcomes.get(arm);
    const about = { 'stepwright/branch': arm };
    const isDone = outcome?.status === 'succeeded' && said.length === 0;
    const head = isDone ? constructTexts.branchDone(arm, id) : constructTexts.branch(arm, id);
    const isSilent = said.length === 0 && !isDone;
    return [
      ...(isSilent ? [] : [this.message('group', head, about)]),
      ...said,
      ...this.#ending(arm, outcome, about),
    ];
  }

  #ending(arm: string, outcome: Outcome | undefined, about: Partial<BlockMeta>): PromptMessage[] {
    const { id } = this.node;
    if (outcome?.status === 'cancelled') {
      return [this.message('group', constructTexts.branchCancelled(arm, id), about)];
    }
    if (outcome?.status !== 'failed') return [];
    const { code, message } = outcome.failure;
    const text = this.secrets.text(constructTexts.branchFailed(arm, id, message));
    return [this.message('error', text, { ...about, 'stepwright/code': code }, 'user')];
  }

  #branches(): string[] {
    return this.node.kind === 'parallel' ? this.node.branches.map(({ id }) => id) : [];
  }
}
