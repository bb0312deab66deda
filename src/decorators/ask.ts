import type { Unmark } from './arg.js';
import { WorkflowNotRunnableError } from './faults.js';

/** Questions to the person behind the client. A step that asks waits for the answer; what does not need it goes on. */
export interface Ask {
  /**
   * Tells something, and waits until it was seen. It has no value.
   *
   * @example
   * ```ts
   * @Step() told = ask.info(prompt`Use ${NormalizeProject} as ${LogseqIntro} says`);
   * ```
   * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
   */
  info(message: string): undefined;

  /**
   * Asks for yes or no. The value is `true` for yes.
   *
   * @example
   * ```ts
   * @Step() sure = ask.confirm(`Remove ${this.page.name}?`);
   * @Step() stop = this.sure ? undefined : fail('cancelled');
   * ```
   * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
   */
  confirm(message: string): boolean;

  /**
   * Asks for text. The value is what was written.
   *
   * @example
   * ```ts
   * @Step() note = ask.text('Note?');
   * ```
   * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
   */
  text(message: string): string;

  /**
   * Asks for one of some texts. The value is the one that was chosen; written out, they are its type.
   *
   * @param options at least one, none twice.
   * @example
   * ```ts
   * @Step() where = ask.choice('Where?', ['top', 'bottom']); // 'top' | 'bottom'
   * @Step() page = ask.choice('Which page?', this.pages.names); // string
   * ```
   * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
   */
  choice<const Option extends string>(message: string, options: readonly Option[]): Unmark<Option>;

  /**
   * Asks for one of some items, shown by their labels. The value is the item that was chosen, as a whole.
   *
   * @param items at least one.
   * @param label what stands for an item; the labels differ.
   * @example
   * ```ts
   * @Step() flight = ask.pick('Which flight?', this.found.flights, (flight) => `${flight.from} ${flight.departs}`);
   * ```
   * @throws WorkflowNotRunnableError when called: codegen reads it, nothing runs it.
   */
  pick<Item = never>(message: string, items: readonly Item[], label: (item: Item) => string): Unmark<Item>;
}

const unrunnable = (mode: keyof Ask) => (): never => {
  throw new WorkflowNotRunnableError(`ask.${mode}(...)`);
};

/** Asks the person behind the client: see {@link Ask}. */
export const ask: Ask = {
  info: unrunnable('info'),
  confirm: unrunnable('confirm'),
  text: unrunnable('text'),
  choice: unrunnable('choice'),
  pick: unrunnable('pick'),
};
