/** A page of a graph, as far as the tools need to know it. */
export interface Page {
  /** As Logseq shows it: `Website`, `Website/Login`. */
  readonly name: string;
  /** Relative to the graph folder, with `/`: `pages/Website___Login.md`. */
  readonly path: string;
  /** Other names, from the page's `alias::` property. */
  readonly aliases: readonly string[];
}

const PROPERTY = /^(?:- )?\s*([\p{L}_][\p{L}\p{N}_-]*):: ?(.*)$/u;
const NOT_LINKABLE = /[\p{Cc}\p{Zl}\p{Zp}]|\[\[|\]\]/u;

/**
 * The page a file holds, or `undefined` where no link could ever name it: line breaks and double brackets cannot
 * stand in a `[[link]]`.
 */
export function pageOf(fileName: string, text: string): Page | undefined {
  const properties = readProperties(text);
  const name = properties.get('title') ?? nameOfFile(fileName);
  if (name === '' || NOT_LINKABLE.test(name)) return undefined;
  const aliases = (properties.get('alias') ?? '')
    .split(',')
    .map((alias) => alias.trim().replace(/^\[\[(.*)\]\]$/, '$1'))
    .filter((alias) => alias !== '');
  return { name, path: `pages/${fileName}`, aliases };
}

/**
 * The file a new page of this name is kept in, or `undefined` for a name that would not come back from a file name.
 * Whatever the name holds, it is one file name and nothing else: dots, slashes and control characters are escaped.
 */
export function fileOfPage(name: string): string | undefined {
  const encode = (character: string): string =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join('');
  const stem = name.replaceAll('/', '___').replace(/[^\p{L}\p{M}\p{N} _-]/gu, encode);
  const file = `${stem}.md`;
  return pageOf(file, '')?.name === name ? file : undefined;
}

/** Page names compare as Logseq compares them: without case, and however their accents are encoded. */
export function samePageName(left: string, right: string): boolean {
  return fold(left) === fold(right);
}

/** The `key:: value` lines at the top of a page, up to the first line that is none. Keys are lower case. */
export function readProperties(text: string): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const [, key, value] = PROPERTY.exec(line) ?? [];
    if (key === undefined || value === undefined) break;
    properties.set(key.toLowerCase(), value.trim());
  }
  return properties;
}

/** Undoes Logseq's file names: `___` stands for `/`, and `%3A` for a character file systems refuse. */
function nameOfFile(fileName: string): string {
  const stem = fileName.replace(/\.md$/, '').replaceAll('___', '/');
  try {
    return decodeURIComponent(stem);
  } catch {
    return stem;
  }
}

function fold(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}
