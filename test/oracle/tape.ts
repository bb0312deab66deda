/**
 * Numbers that a random graph is made from. Where it has come to its end it goes on with 0, and whatever is made of 0
 * is the simplest of its kind: a shorter tape, or one with smaller numbers, is a simpler graph.
 */
export class Tape {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** From 0 to `limit - 1`. */
  below(limit: number): number {
    const number = this.#numbers[this.#at] ?? 0;
    this.#at += 1;
    return number % limit;
  }

  /** True in so many of a hundred cases. */
  chance(percent: number): boolean {
    return this.below(100) >= 100 - percent;
  }

  of<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error('there is nothing to choose from');
    return choice;
  }

  /** One of the keys, each as often as its number says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let place = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [key, weight] of entries) {
      if (place < weight) return key;
      place -= weight;
    }
    throw new Error('there is nothing to choose from');
  }

  some<T>(choices: readonly T[], percent: number): T[] {
    return choices.filter(() => this.chance(percent));
  }
}
