import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The repository's root, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A code fence of a page. */
export interface Fence {
  readonly language: string;
  /** The name of the file with this content: the second word after the opening fence. */
  readonly file?: string;
  readonly body: string;
  /** The heading of its section, without the hashes. */
  readonly section: string;
}

/** The fences of a Markdown text, in order. */
export function fencesOf(markdown: string): Fence[] {
  const fences: Fence[] = [];
  let section = '';
  let open: { info: string; lines: string[] } | undefined;
  for (const line of markdown.split('\n')) {
    const mark = /^```(.*)$/.exec(line);
    if (mark === null) {
      if (open !== undefined) open.lines.push(line);
      else section = /^#+ (.*)$/.exec(line)?.[1] ?? section;
    } else if (open === undefined) open = { info: mark[1] ?? '', lines: [] };
    else {
      const [language = '', file] = open.info.trim().split(/\s+/);
      const body = open.lines.map((text) => `${text}\n`).join('');
      fences.push({ language, ...(file === undefined ? {} : { file }), body, section });
      open = undefined;
    }
  }
  return fences;
}

/** A page of the documentation; `file` is relative to the root. */
export function page(file: string): string {
  return readFileSync(ROOT + file, 'utf8');
}
