import type { Expr } from '../../graph/expression/tree.js';
import type { Json } from '../../graph/json.js';
import { getOrInsert } from '../../graph/maps.js';
import type { BranchNode } from '../../graph/model.js';
import { stopsAtFailure } from '../../graph/nodes.js';
import { counted, oneLine } from '../../graph/printable-text.js';
import type { NodeInstance, ScopeInstance } from '../../plan/instances.js';
import { soleBody } from '../../print/shapes.js';
import type { Failure, RunState } from '../engine/contract.js';
import { inputOf, itemsOf } from '../engine/read.js';
import type { RunMask } from '../secrets/run-mask.js';
import { UndoLog } from './leaf-logs.js';
import { type BlockMeta, ITEMS_IN_FULL, type PromptMessage, textBlock } from './messages.js';
import { names, printExpression, shortJson, stepFailed, stop } from './sentences.js';
import { type FactOf, type StepFact, StepLog } from './step-log.js';

/** What a list of steps has to say: the top of the workflow, an arm, a branch, an item. In the order in which steps end. */
export class PartLog {
  readonly #messages: PromptMessage[] = [];
  /** Steps that have started and are not over. */
  readonly #open = new Map<string, StepLog>();

  /** Steps that are over, by the step they are shown after. */
  readonly #held = new Map<string, string>();

  /** Everything so far, that of steps that are not over behind that of the others. */
  get all(): readonly PromptMessage[] {
    const unfinished = [...this.#open.values()].flatMap((step) => (step.hasActed ? step.all : []));
    return [...this.#messages, ...unfinished];
  }

  /** What the step has to say, from its first fact on. */
  step(id: string, create: () => StepLog): StepLog {
    return getOrInsert(this.#open, id, create);
  }

  /** The step that has started and is not over. */
  open(id: string): StepLog | undefined {
    return this.#open.get(id);
  }

  /** The step is over. @param behind a step after which it is shown, if that is not over. */
  close(id: string, behind?: string): void {
    if (behind !== undefined && this.#open.has(behind)) {
      this.#held.set(behind, id);
      return;
    }
    this.#messages.push(...(this.#open.get(id)?.all ?? []));
    this.#open.delete(id);
    const follower = this.#held.get(id);
    if (follower === undefined) return;
    this.#held.delete(id);
    this.close(follower);
  }

  say(message: PromptMessage): void {
    this.#messages.push(message);
  }
}

/** What a step with bodies has to say: what its parts have, each by itself, however their facts interleave. */
export abstract class ContainerLog extends StepLog {
  protected readonly instance: NodeInstance;
  readonly #undo: UndoLog;

  constructor(instance: NodeInstance, secrets: RunMask) {
    super(instance, secrets);
    this.instance = instance;
    this.#undo = new UndoLog(secrets, (...args) => this.say(...args), instance);
  }

  /** Shows how what the parts did is undone. */
  protected override tell(fact: StepFact, _state: RunState): void {
    if (fact.kind === 'compensating') this.closeParts();
    this.#undo.observe(fact);
  }

  abstract part(scope: ScopeInstance): PartLog;

  /** What this attempt has to say beside what the step has said itself. */
  protected abstract inside(): readonly PromptMessage[];

  /** Forgets the parts of an attempt that is over. */
  protected abstract forgetParts(): void;

  override get all(): readonly PromptMessage[] {
    return [...super.all, ...this.inside()];
  }

  override get hasActed(): boolean {
    return super.hasActed || this.inside().length > 0;
  }

  /** Ends the attempt: keeps the messages of its parts, and forgets the parts. */
  protected closeParts(): void {
    this.include(this.inside());
    this.forgetParts();
  }

  /** Something the step itself says of its parts. */
  protected message(
    part: BlockMeta['stepwright/part'],
    text: string,
    meta: Partial<BlockMeta> = {},
    role: PromptMessage['role'] = 'assistant',
  ): PromptMessage {
    return textBlock(role, text, {
      'stepwright/part': part,
      'stepwright/step': this.instance.key,
      ...meta,
    });
  }

  /** How a part ended that did not succeed. */
  protected ending(
    name: string,
    part: 'group' | 'item',
    outcome: Outcome | undefined,
    about: Partial<BlockMeta>,
    note = '',
  ): PromptMessage[] {
    if (outcome?.status === 'cancelled') return [this.message(part, `${name} was cancelled.`, about)];
    if (outcome?.status !== 'failed') return [];
    const { code, message } = outcome.failure;
    const text = this.secrets.text(`${name} failed: ${stop(oneLine(message))}${note}`);
    return [this.message('error', text, { ...about, 'stepwright/code': code }, 'user')];
  }

  protected override attemptFailed(): void {
    this.closeParts();
  }

  protected override failed(failure: Failure): boolean {
    const isShown = this.#hasTold(failure);
    this.closeParts();
    if (!isShown) this.sayFailure(stepFailed(this.node.id, failure.message), failure);
    return true;
  }

  protected override cancelled(): void {
    this.closeParts();
  }

  /** Whether a step inside has shown the failure. */
  #hasTold({ code, message }: Failure): boolean {
    const shown = this.secrets.text(oneLine(message));
    return this.inside().some(({ content: { type, _meta, ...content } }) => {
      if (type !== 'text' || _meta?.['stepwright/part'] !== 'error') return false;
      return _meta['stepwright/code'] === code && 'text' in content && content.text.includes(shown);
    });
  }
}

/** What a step with one body at a time has to say. */
abstract class SingleLog extends ContainerLog {
  #part: PartLog | undefined;

  override part(): PartLog {
    this.#part ??= new PartLog();
    return this.#part;
  }

  protected override inside(): readonly PromptMessage[] {
    return this.#part?.all ?? [];
  }

  protected override forgetParts(): void {
    this.#part = undefined;
  }
}

/** Which arm a branch takes and why no other, where there is one; then what happens in it. */
export class BranchLog extends SingleLog {
  protected override tell(fact: StepFact): void {
    if (fact.kind !== 'branchTaken' || this.node.kind !== 'branch') return;
    if (soleBody(this.node) !== undefined) return;
    const next = fact.goto === undefined ? '' : ` It leads to '${fact.goto}'.`;
    this.say('assistant', 'branch', `${decision(this.node, fact.arm)}${next}`, {
      'stepwright/arm': fact.arm,
    });
  }

  protected override succeeded(): void {
    this.closeParts();
  }
}

function decision(node: BranchNode, chosenArm: string): string {
  const place = node.cases.findIndex(({ id }) => id === chosenArm);
  const isElse = place < 0;
  const before = isElse ? node.cases : node.cases.slice(0, place);
  const after = isElse
    ? []
    : [...node.cases.slice(place + 1), ...(node.else === undefined ? [] : [node.else])];
  const chosen = node.cases[place];
  const condition = chosen && printExpression(chosen.when);
  const why =
    chosen === undefined
      ? ', because no condition before it holds'
      : condition === undefined
        ? ''
        : `, because \`${condition}\` holds`;
  return [
    `Step '${node.id}' takes '${chosenArm}'${why}.`,
    ...before.map(({ id, when }) => ` Not '${id}': ${conditionIn(when)} does not hold.`),
    ...(after.length === 0 ? [] : [` Not checked: ${names(after.map(({ id }) => id))}.`]),
  ].join('');
}

function conditionIn(when: Expr): string {
  const condition = printExpression(when);
  return condition === undefined ? 'its condition' : `\`${condition}\``;
}

/** What another workflow is given, what happens in it, and what it gives back. */
export class WorkflowLog extends SingleLog {
  protected override started(state: RunState): void {
    const { node } = this;
    if (node.kind !== 'workflow') return;
    // A workflow that was over at once has left nothing behind.
    const input = inputOf(state, this.instance.key);
    const sentence = `Step '${node.id}' runs workflow '${node.workflow}'`;
    if (input === undefined) {
      this.say('assistant', 'group', `${sentence}.`);
      return;
    }
    const shown = this.secrets.handedTo(input, this.instance);
    this.sayValue('assistant', 'group', shown, `${sentence} with:`, 'input');
  }

  protected override succeeded({ summary, value }: FactOf<'nodeSucceeded'>): void {
    this.closeParts();
    const { node } = this;
    if (node.kind !== 'workflow') return;
    const what = `'${node.workflow}' (step '${node.id}')`;
    if (summary !== undefined) this.saySummary(this.secrets.text(summary));
    else if (value === undefined || value === null) this.say('user', 'result', `Workflow ${what} is done.`);
    else {
      const shown = this.secrets.output(value, this.instance);
      this.sayValue('user', 'result', shown, `Result of workflow ${what}:`, 'result');
    }
  }
}

type Outcome = FactOf<'partEnded'>['outcome'];

/** Branches that run side by side: the messages of each are together, in the order of declaration. */
export class ParallelLog extends ContainerLog {
  readonly #logs = new Map<string, PartLog>();
  readonly #outcomes = new Map<string, Outcome>();
  #hasBegun = false;

  override part({ plan }: ScopeInstance): PartLog {
    return this.#log(plan.arm ?? '');
  }

  protected override tell(fact: StepFact, state: RunState): void {
    switch (fact.kind) {
      case 'partStarted':
        this.#announce();
        this.#log(fact.arm ?? '');
        return;
      case 'partEnded':
        this.#outcomes.set(fact.arm ?? '', fact.outcome);
        return;
      default:
        super.tell(fact, state);
    }
  }

  protected override succeeded(): void {
    const failed = [...this.#outcomes].flatMap(([arm, { status }]) => (status === 'failed' ? [arm] : []));
    const { id } = this.node;
    const inOrder = this.#branches().filter((arm) => failed.includes(arm));
    this.closeParts();
    if (failed.length > 0)
      this.say('assistant', 'group', `Step '${id}' continues without ${names(inOrder)}, which failed.`);
  }

  protected override inside(): readonly PromptMessage[] {
    const started = this.#branches().filter((arm) => this.#logs.has(arm));
    const notStarted = this.#branches().filter((arm) => !this.#logs.has(arm));
    const isOver = this.#logs.size > 0 && this.#outcomes.size === this.#logs.size;
    return [
      ...started.flatMap((arm) => this.#told(arm)),
      ...(isOver && notStarted.length > 0
        ? [this.message('skip', `${names(notStarted)} of '${this.node.id}' did not begin.`)]
        : []),
    ];
  }

  protected override forgetParts(): void {
    this.#logs.clear();
    this.#outcomes.clear();
    this.#hasBegun = false;
  }

  #log(arm: string): PartLog {
    return getOrInsert(this.#logs, arm, () => new PartLog());
  }

  #announce(): void {
    if (this.#hasBegun || this.node.kind !== 'parallel') return;
    this.#hasBegun = true;
    const { id, concurrency = Number.POSITIVE_INFINITY } = this.node;
    const branches = this.#branches();
    const { length: count } = branches;
    const amount = count === 1 ? '1 branch' : `${count} branches`;
    const how = concurrency < count ? `, ${concurrency} at a time` : ' side by side';
    this.say('assistant', 'group', `Step '${id}' runs ${amount}${how}: ${names(branches)}.`);
  }

  #told(arm: string): PromptMessage[] {
    const { id } = this.node;
    const said = this.#logs.get(arm)?.all ?? [];
    const outcome = this.#outcomes.get(arm);
    const about = { 'stepwright/branch': arm };
    const isEmpty = outcome?.status === 'succeeded' && said.length === 0;
    const head = isEmpty ? `Branch '${arm}' of '${id}' is done.` : `Branch '${arm}' of '${id}':`;
    const isSilent = said.length === 0 && !isEmpty;
    return [
      ...(isSilent ? [] : [this.message('group', head, about)]),
      ...said,
      ...this.ending(`Branch '${arm}' of '${id}'`, 'group', outcome, about),
    ];
  }

  #branches(): string[] {
    return this.node.kind === 'parallel' ? this.node.branches.map(({ id }) => id) : [];
  }
}

/** How many further items are shown with the call that failed, where they fail and the loop goes on. */
const FAILED_ITEMS = 10;

interface ItemLog {
  readonly log: PartLog;
  readonly heading: string | undefined;
  outcome?: Outcome;
  /** Only the last call and its outcome are shown. */
  isShort?: true;
}

/**
 * A loop: the first items in full, in the order of the list, then how the others fared, then the whole result. An item
 * that is not over, and the one that ended the loop, are shown in full at any index.
 */
export class ForeachLog extends ContainerLog {
  readonly #items = new Map<number, ItemLog>();
  readonly #values = new Map<number, Json>();
  #count = 0;
  #begun = 0;
  #hasBegun = false;
  #hidden = { succeeded: 0, failed: 0, cancelled: 0 };

  override part({ part }: ScopeInstance): PartLog {
    return this.#item(part, undefined).log;
  }

  protected override tell(fact: StepFact, state: RunState): void {
    if (fact.kind === 'partStarted' && fact.index !== undefined) this.#begins(fact.index, fact.count, state);
    if (fact.kind === 'partEnded' && fact.index !== undefined) this.#ends(fact.index, fact.outcome);
  }

  protected override succeeded({ summary }: FactOf<'nodeSucceeded'>): void {
    const { id } = this.node;
    if (this.#count === 0) {
      this.say('assistant', 'group', `Step '${id}' has no items to go through.`);
      return;
    }
    const count = this.#count;
    const values = Array.from({ length: count }, (_, index) => this.#values.get(index) ?? null);
    this.closeParts();
    if (summary !== undefined) {
      this.saySummary(this.secrets.text(summary));
      return;
    }
    if (this.node.kind === 'foreach' && this.node.body.value === undefined) {
      this.say(
        'assistant',
        'group',
        `Step '${id}' is done with ${count === 1 ? 'its item' : `all ${count} items`}.`,
      );
      return;
    }
    const shown = this.secrets.output(values, this.instance);
    this.sayValue('user', 'result', shown, `Result of '${id}' (${counted(count, 'item')}):`, 'result');
  }

  protected override inside(): readonly PromptMessage[] {
    const inOrder = [...this.#items].sort(([one], [other]) => one - other);
    const running = inOrder.some(([, { outcome }]) => outcome === undefined);
    const notStarted = this.#count - this.#begun;
    const { succeeded, failed, cancelled } = this.#hidden;
    return [
      ...inOrder.flatMap(([index, item]) => this.#told(index, item)),
      ...(succeeded + failed + cancelled === 0 ? [] : [this.message('group', this.#hiddenText())]),
      ...(notStarted === 0 || running
        ? []
        : [this.message('skip', `${counted(notStarted, 'item')} of '${this.node.id}' did not begin.`)]),
    ];
  }

  #hiddenText(): string {
    const counts = Object.entries(this.#hidden).filter(([, count]) => count > 0);
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const parts = counts.map(([outcome, count]) => `${count} ${outcome}`).join(', ');
    return `${counted(total, 'further item')} of '${this.node.id}' ${total === 1 ? 'is' : 'are'} not shown: ${parts}.`;
  }

  protected override forgetParts(): void {
    this.#items.clear();
    this.#values.clear();
    this.#hidden = { succeeded: 0, failed: 0, cancelled: 0 };
    this.#count = 0;
    this.#begun = 0;
    this.#hasBegun = false;
  }

  #begins(index: number, count: number, state: RunState): void {
    if (this.node.kind !== 'foreach') return;
    this.#count = count;
    this.#begun += 1;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.say(
        'assistant',
        'group',
        `Step '${this.node.id}' goes through ${counted(count, 'item')}${count > 1 && this.node.concurrency > 1 ? `, ${Math.min(this.node.concurrency, count)} at a time` : ''}.`,
      );
    }
    const item = itemsOf(state, this.instance.key)?.[index];
    const shown = item === undefined ? undefined : shortJson(this.secrets.item(item, this.instance, index));
    this.#item(
      index,
      `Item ${index + 1} of ${count} of '${this.node.id}':${shown === undefined ? '' : ` ${shown}`}`,
    );
  }

  #ends(index: number, outcome: Outcome): void {
    const item = this.#item(index, undefined);
    item.outcome = outcome;
    if (outcome.status === 'succeeded') this.#values.set(index, outcome.value ?? null);
    if (index < ITEMS_IN_FULL) return;
    const isLast = this.node.kind === 'foreach' && stopsAtFailure(this.node);
    if (outcome.status === 'failed' && isLast) return;
    const short = [...this.#items.values()].filter(({ isShort }) => isShort).length;
    if (outcome.status === 'failed' && short < FAILED_ITEMS) {
      item.isShort = true;
      return;
    }
    this.#hidden[outcome.status] += 1;
    this.#items.delete(index);
  }

  #item(index: number, heading: string | undefined): ItemLog {
    return getOrInsert(this.#items, index, () => ({ log: new PartLog(), heading }));
  }

  #told(index: number, { log, heading, outcome, isShort }: ItemLog): PromptMessage[] {
    const about = { 'stepwright/item': index };
    const said = isShort ? log.all.filter(isCall).slice(-1) : log.all;
    const head = heading === undefined ? [] : [this.message('item', heading, about)];
    const isNull = this.node.kind === 'foreach' && this.node.onItemError === 'continue';
    const name = `Item ${index + 1} of ${this.#count} of '${this.node.id}'`;
    const note = isNull ? ' Its result is null.' : '';
    return [...head, ...said, ...this.ending(name, 'item', outcome, about, note)];
  }
}

function isCall({ content }: PromptMessage): boolean {
  return content._meta?.['stepwright/part'] === 'call';
}
