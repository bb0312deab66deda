import type { NodeInstance, ScopeInstance } from '../../../plan/instances.js';
import { oneLine } from '../../catalogue/encode-text.js';
import type { Failure } from '../../engine/contract.js';
import type { RunMask } from '../../hosts/run-mask.js';
import { textBlock } from './block.js';
import type { BlockMeta, PromptMessage } from './messages.js';
import { PartLog } from './part-log.js';
import { StepLog } from './step-log.js';
import { texts } from './texts.js';

/** What a step with bodies has to say: what its parts have, each by itself, however their facts interleave. */
export abstract class ContainerLog extends StepLog {
  protected readonly instance: NodeInstance;

  constructor(instance: NodeInstance, secrets: RunMask) {
    super(instance, secrets);
    this.instance = instance;
  }

  /** Where a part of this attempt tells what it has to say. */
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

  /** The attempt is over: what its parts have said stands for itself. */
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

  protected override attemptFailed(): void {
    this.closeParts();
  }

  protected override failed(failure: Failure): boolean {
    const isTold = this.#hasTold(failure);
    this.closeParts();
    if (!isTold) this.sayFailure(texts.stepFailed(this.node.id, failure.message), failure);
    return true;
  }

  protected override cancelled(): void {
    this.closeParts();
  }

  /** Whether the failure is one that somebody inside has told. */
  #hasTold({ code, message }: Failure): boolean {
    const shown = this.secrets.text(oneLine(message));
    return this.inside().some(({ content: { type, _meta, ...content } }) => {
      if (type !== 'text' || _meta?.['stepwright/part'] !== 'error') return false;
      return _meta['stepwright/code'] === code && 'text' in content && content.text.includes(shown);
    });
  }
}

/** What a step with one body at a time has to say. */
export abstract class SingleLog extends ContainerLog {
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
