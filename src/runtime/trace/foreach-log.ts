import type { Json } from '../../graph/json.js';
import { jsonText } from '../../graph/printable-text.js';
import type { ScopeInstance } from '../../plan/instances.js';
import type { RunState } from '../engine/contract.js';
import { itemsOf } from '../engine/read.js';
import { ContainerLog, PartLog } from './container-log.js';
import { type BlockMeta, limited, type PromptMessage, sized } from './messages.js';
import type { FactOf, StepFact } from './step-log.js';
import { amountOf, constructTexts, cutNote, shortJson, texts } from './texts.js';

/** How many items of a loop are shown in full. */
export const ITEMS_IN_FULL = 5;

/** How many further items are shown with the call that failed, where they fail and the loop goes on. */
const FAILED_ITEMS = 10;

type Outcome = FactOf<'partEnded'>['outcome'];

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
      const { text, size } = limited(jsonText(this.secrets.text(summary)));
      this.say('user', 'result', texts.summary(text, size), { 'stepwright/summary': true, ...sized(size) });
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
    const { text, size } = limited(jsonText(this.secrets.output(values, this.instance), 2));
    this.say(
      'user',
      'result',
      `Result of '${id}' (${amountOf(count, 'item')}):\n${text}${cutNote('result', size)}`,
      sized(size),
    );
  }

  protected override inside(): readonly PromptMessage[] {
    const inOrder = [...this.#items].sort(([one], [other]) => one - other);
    const running = inOrder.some(([, { outcome }]) => outcome === undefined);
    const left = this.#count - this.#begun;
    const { succeeded, failed, cancelled } = this.#hidden;
    return [
      ...inOrder.flatMap(([index, item]) => this.#told(index, item)),
      ...(succeeded + failed + cancelled === 0
        ? []
        : [this.message('group', constructTexts.otherItems(this.node.id, this.#hidden))]),
      ...(left === 0 || running
        ? []
        : [this.message('skip', `${amountOf(left, 'item')} of '${this.node.id}' did not begin.`)]),
    ];
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
        `Step '${this.node.id}' goes through ${amountOf(count, 'item')}${count > 1 && this.node.concurrency > 1 ? `, ${Math.min(this.node.concurrency, count)} at a time` : ''}.`,
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
    const isLast = this.node.kind === 'foreach' && this.node.onItemError === 'fail';
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
    const known = this.#items.get(index);
    if (known !== undefined) return known;
    const item = { log: new PartLog(), heading };
    this.#items.set(index, item);
    return item;
  }

  #told(index: number, { log, heading, outcome, isShort }: ItemLog): PromptMessage[] {
    const about = { 'stepwright/item': index };
    const said = isShort ? log.all.filter(isCall).slice(-1) : log.all;
    const head = heading === undefined ? [] : [this.message('item', heading, about)];
    return [...head, ...said, ...this.#ending(index, outcome, about)];
  }

  #ending(index: number, outcome: Outcome | undefined, about: Partial<BlockMeta>): PromptMessage[] {
    const { id } = this.node;
    const place = [index + 1, this.#count, id] as const;
    if (outcome?.status === 'cancelled') {
      return [this.message('item', constructTexts.itemCancelled(...place), about)];
    }
    if (outcome?.status !== 'failed') return [];
    const { code, message } = outcome.failure;
    const goesOn = this.node.kind === 'foreach' && this.node.onItemError === 'continue';
    const text = this.secrets.text(constructTexts.itemFailed(...place, message, goesOn));
    return [this.message('error', text, { ...about, 'stepwright/code': code }, 'user')];
  }
}

function isCall({ content }: PromptMessage): boolean {
  return content._meta?.['stepwright/part'] === 'call';
}
