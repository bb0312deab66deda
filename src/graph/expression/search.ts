/**
 * The first place at or after `from` where a text occurs in another, in UTF-16 code units; -1 where it does not.
 * Takes time in proportion to both lengths (Knuth, Morris, Pratt 1977): engines' own search is quadratic at worst.
 */
export function indexOf(text: string, part: string, from = 0): number {
  return finder(part)(text, from);
}

/** Splits as JavaScript's `split` does, in time that is proportional to both lengths. */
export function split(text: string, separator: string, limit: number): string[] {
  if (limit === 0) return [];
  if (separator === '') return text.split('', limit);
  const find = finder(separator);
  const pieces: string[] = [];
  let start = 0;
  for (let end = find(text, 0); end !== -1; end = find(text, start)) {
    pieces.push(text.slice(start, end));
    if (pieces.length >= limit) return pieces;
    start = end + separator.length;
  }
  pieces.push(text.slice(start));
  return pieces;
}

function finder(part: string): (text: string, from: number) => number {
  const borders = bordersOf(part);
  return (text, from) => {
    let matched = 0;
    if (part === '') return Math.min(from, text.length);
    for (let index = from; index < text.length; index++) {
      while (matched > 0 && part[matched] !== text[index]) matched = borders[matched - 1] ?? 0;
      if (part[matched] === text[index]) matched++;
      if (matched === part.length) return index - matched + 1;
    }
    return -1;
  };
}

/** For each beginning of a text the length of its longest own beginning that is its end as well. */
function bordersOf(part: string): readonly number[] {
  const borders = [0];
  let length = 0;
  for (let index = 1; index < part.length; index++) {
    while (length > 0 && part[length] !== part[index]) length = borders[length - 1] ?? 0;
    if (part[length] === part[index]) length++;
    borders.push(length);
  }
  return borders;
}
