/** Maps a character of a value to its offset in the file. */
export type Offsets = (index: number) => number;

/** For a value whose characters are written one by one. */
export function plainOffsets(start: number): Offsets {
  return (index) => start + index;
}

/**
 * For a value that is written in pieces, such as escapes, that differ from the characters of the value.
 *
 * @param pieces a list of the written form, in order: the length of each, and how many characters of the value it makes.
 */
export function pieceOffsets(
  start: number,
  pieces: () => Iterable<readonly [written: number, value: number]>,
): Offsets {
  let offsets: number[] | undefined;
  return (index) => {
    offsets ??= collect(start, pieces());
    return offsets[Math.min(index, offsets.length - 1)] ?? start;
  };
}

function collect(start: number, pieces: Iterable<readonly [number, number]>): number[] {
  const offsets: number[] = [];
  let at = start;
  for (const [written, value] of pieces) {
    for (let index = 0; index < value; index += 1) offsets.push(written === value ? at + index : at);
    at += written;
  }
  offsets.push(at);
  return offsets;
}

/** The pieces of a text by a pattern of its escapes. */
export function* piecesOf(
  written: string,
  sequence: RegExp,
  lengthOf: (sequence: string) => number,
): Generator<readonly [number, number]> {
  let last = 0;
  for (const { 0: found, index } of written.matchAll(sequence)) {
    if (index > last) yield [index - last, index - last];
    yield [found.length, lengthOf(found)];
    last = index + found.length;
  }
  if (last < written.length) yield [written.length - last, written.length - last];
}
