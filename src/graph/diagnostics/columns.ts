import { escapeUnprintable } from '../unprintable.js';

/** Columns a tab takes in a frame. */
const TAB = '    ';

/** Code points that take two columns: CJK, Hangul, kana, full-width forms, emoji (Unicode UAX #11, W and F). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
];

/** Marks that stand on the character before them, and joiners. */
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\u200c\u200d]$/u;

/** Source text as it is printed: tabs as spaces, nothing that a terminal would act on, or that hides or reorders text. */
export function printable(text: string): string {
  return escapeUnprintable(text.replaceAll('\t', TAB));
}

/** How many columns a terminal gives to printable text. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (WITHOUT_WIDTH.test(character)) return 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}
