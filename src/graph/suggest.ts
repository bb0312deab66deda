/** Longer names are not compared: the cost grows with the product of the lengths. */
const MAX_LENGTH = 100;

/**
 * The known name a misspelt one was most likely meant to be; nothing where none is near. Near means at most two
 * edits in five characters, one at least. Of equally near names the first known one wins.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(name.length * 0.4));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    if (candidate === name || candidate === '') continue;
    const distance = nameDistance(name, candidate, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ``did you mean `x`?``, or nothing where no name is near. */
export function didYouMean(
  near: string | undefined,
  quoted: (name: string) => string = (name) => `\`${name}\``,
): string | undefined {
  return near === undefined ? undefined : `did you mean ${quoted(near)}?`;
}

/** `Did you mean 'x'?`: the question as a sentence of its own. */
export function didYouMeanSentence(near: string): string {
  return `Did you mean '${near}'?`;
}

/** Edits between two names; case and the choice of `-`, `_` or nothing between words count for little. */
function nameDistance(left: string, right: string, limit: number): number {
  if (left.length > MAX_LENGTH || right.length > MAX_LENGTH) return Number.POSITIVE_INFINITY;
  if (plainForm(left) === plainForm(right)) return 0.5;
  // Every character too many is an edit of its own.
  if (Math.abs(left.length - right.length) >= limit) return Number.POSITIVE_INFINITY;
  const distance = editDistance(left.toLowerCase(), right.toLowerCase());
  // A name that shares no character is not a misspelling, however short.
  return distance >= Math.max(left.length, right.length) ? Number.POSITIVE_INFINITY : Math.max(distance, 0.5);
}

function plainForm(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}

/** Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours (Damerau-Levenshtein). */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const substitution = left[row - 1] === right[column - 1] ? 0 : 1;
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + substitution,
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
