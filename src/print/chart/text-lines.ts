/** Widths of characters in em, as in DejaVu Sans, which is among the widest fonts that browsers choose. */
const WIDTHS: readonly (readonly [characters: RegExp, em: number])[] = [
  [/[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/, 1.02],
  [/\p{Extended_Pictographic}/u, 1.4],
  [/[ijlI.,:;'|]/, 0.34],
  [/[ ftr()[\]{}\-/\\!`·]/, 0.43],
  [/[acekszvxyJ_"?*]/, 0.62],
  [/[@%mMW…\u{1f000}-\u{10ffff}]/u, 1.01],
  [/[\p{Lu}w+<>=~&#→≥≤≠×−]/u, 0.85],
];
const OTHER_WIDTH = 0.66;

/** The width that a text needs, in pixels. Fonts differ, so that it is rather too much. */
export function textWidth(text: string, fontSize: number): number {
  let em = 0;
  for (const character of text) em += WIDTHS.find(([of]) => of.test(character))?.[1] ?? OTHER_WIDTH;
  return Math.ceil(em * fontSize);
}

/** Breaks a text into at most `maxLines` lines of a width, between words where it can. The last line ends with `…` if some is missing. */
export function wrapText(text: string, fontSize: number, width: number, maxLines: number): string[] {
  const fits = (line: string): boolean => textWidth(line, fontSize) <= width;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<=[\s,/|])|(?=\.|\$\{)/u)) {
    if (fits((line + word).trimEnd())) {
      line += word;
      continue;
    }
    if (line !== '') lines.push(line.trimEnd());
    line = word;
    while (!fits(line.trimEnd()) && lines.length <= maxLines) {
      const length = fittingLength(line, fits);
      lines.push(line.slice(0, length));
      line = line.slice(length);
    }
    if (lines.length > maxLines) break;
  }
  lines.push(line.trimEnd());
  const [last = ''] = lines.slice(maxLines - 1);
  if (lines.length <= maxLines) return lines;
  const length = fits(`${last}…`) ? last.length : fittingLength(last, (part) => fits(`${part}…`));
  return [...lines.slice(0, maxLines - 1), `${last.slice(0, length).trimEnd()}…`];
}

/** The length of the longest beginning of a text that fits, at least one character. */
function fittingLength(text: string, fits: (part: string) => boolean): number {
  let length = 0;
  for (const character of text) {
    if (length > 0 && !fits(text.slice(0, length + character.length))) break;
    length += character.length;
  }
  return length;
}
