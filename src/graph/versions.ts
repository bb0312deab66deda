import { compareText } from './names.js';

/**
 * Compares versions as Semantic Versioning orders them: by their three numbers, then a pre-release before its release. Parts
 * that are not numbers are compared as text; build metadata does not count.
 */
export function compareVersions(left: string, right: string): number {
  const [one, other] = [partsOf(left), partsOf(right)];
  return (
    comparePart(one.numbers, other.numbers) ||
    Number(other.preRelease.length > 0) - Number(one.preRelease.length > 0) ||
    comparePart(one.preRelease, other.preRelease)
  );
}

function partsOf(version: string) {
  const [, numbers = '', preRelease] = /^v?([^-+]*)(?:-([^+]*))?/.exec(version) ?? [];
  // A workflow without a version is older than any.
  return { numbers: numbers === '' ? [] : numbers.split('.'), preRelease: preRelease?.split('.') ?? [] };
}

function comparePart(left: readonly string[], right: readonly string[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const [one, other] = [left[index], right[index]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    const numbers = [one, other].map((part) => /^\d+$/.test(part));
    const order =
      numbers[0] && numbers[1]
        ? Number(one) - Number(other)
        : Number(numbers[1]) - Number(numbers[0]) || compareText(one, other);
    if (order !== 0) return order;
  }
  return 0;
}
