import { lstat, mkdir, readdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { appendAtomically, NotAPlainFile, removeLeftover } from './atomic-append.js';
import { type Block, type BlockPlace, lineOfBlock, printBlock } from './block.js';
import { withFileLock } from './file-lock.js';
import { fileOfPage, type Page, pageOf, samePageName } from './page.js';

/** Thrown when the folder is missing or is no graph. The message says what to do. */
export class GraphNotFound extends Error {
  override readonly name = 'GraphNotFound';
  readonly code = 'E_GRAPH_NOT_FOUND';

  constructor(folder: string, problem: string) {
    super(
      `No Logseq graph at '${folder}': ${problem}. Start the server with the path of a graph folder as its argument, or set LOGSEQ_GRAPH.`,
    );
  }
}

/** Thrown where a new page would take the place of another one. The message names the page. */
export class PageExists extends Error {
  override readonly name = 'PageExists';
  readonly code = 'E_PAGE_EXISTS';
}

/**
 * A Logseq graph: a folder with `pages/*.md` and `journals/yyyy_mm_dd.md`.
 *
 * No name that a caller gives is ever made part of a path as it is: pages are found by comparing names with what the
 * folder holds, a new page's file name is escaped, and a journal's is built from a checked date. Symbolic links are not
 * followed. Nothing is read before it is needed, so a server starts and explains itself even when the folder is missing.
 */
export class LogseqGraph {
  readonly #folder: string;
  #lastWrite: Promise<unknown> = Promise.resolve();

  /** @param folder Path of the graph; not read yet. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** All pages, in the order of their names. */
  async pages(): Promise<Page[]> {
    const folder = await this.#subfolder('pages');
    const pages: Page[] = [];
    // One after the other: a large graph has more files than a process may have open.
    for (const file of await filesIn(folder)) {
      const page = pageOf(file, await readFile(join(folder, file), 'utf8'));
      if (page !== undefined) pages.push(page);
    }
    return pages.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  /** The page with this name, else the one with this alias; case does not matter. */
  async findPage(name: string): Promise<Page | undefined> {
    const pages = await this.pages();
    return (
      pages.find((page) => samePageName(page.name, name)) ??
      pages.find((page) => page.aliases.some((alias) => samePageName(alias, name)))
    );
  }

  /** The page at a path that an earlier {@link findPage} gave out. */
  async pageAt(path: string): Promise<Page | undefined> {
    return (await this.pages()).find((page) => page.path === path);
  }

  /**
   * Adds a block at the end of a day's journal, and creates the journal where there is none. A block whose id stands
   * in a journal already is not written again: its place is returned. Writes to one graph run one after the other, also
   * those of other processes.
   *
   * @param day `yyyy-mm-dd`.
   * @param signal Aborted before its turn, the call writes nothing and rejects with the signal's reason.
   * @throws {GraphNotFound}
   * @throws {LockTimeout} when another process keeps the graph locked.
   * @throws {NotAPlainFile} when the journal is a symbolic link.
   */
  appendToJournal(day: string, block: Block, signal?: AbortSignal): Promise<BlockPlace> {
    return this.#write(
      async () => (await this.#findBlock(block.id)) ?? (await this.#append(journalFile(day), block)),
      signal,
    );
  }

  /** What stands in the journal of a day; `undefined` where it has none. @param day `yyyy-mm-dd`. */
  async journal(day: string): Promise<string | undefined> {
    const folder = await this.#subfolder('journals');
    const file = journalFile(day);
    return (await filesIn(folder)).includes(file) ? readFile(join(folder, file), 'utf8') : undefined;
  }

  /**
   * Adds a page. One of this name, or with it as an alias, is left as it is: that is an error unless it is the very
   * page that is wanted. Writes to one graph run one after the other, also those of other processes.
   *
   * @param signal Aborted before its turn, the call writes nothing and rejects with the signal's reason.
   * @throws {PageExists}
   * @throws {GraphNotFound}
   * @throws {LockTimeout} when another process keeps the graph locked.
   * @throws RangeError for a name that no page can have.
   */
  createPage(name: string, text: string, signal?: AbortSignal): Promise<Page> {
    return this.#write(async () => {
      const file = fileOfPage(name);
      if (file === undefined) throw new RangeError(`'${name}' cannot be the name of a page`);
      const folder = await this.#subfolder('pages');
      const exists = (): PageExists => new PageExists(`Page '${name}' exists already, and is left as it is`);
      const other = await this.findPage(name);
      if (other !== undefined && other.path !== `pages/${file}`) throw exists();
      await appendAtomically(join(folder, file), (before) => {
        if (before !== '' && before !== text) throw exists();
        return before === '' ? text : '';
      });
      return { name, path: `pages/${file}`, aliases: [] };
    }, signal);
  }

  /** Looks and writes as one: what a write depends on is read under the same lock. */
  #write<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const locked = async (): Promise<T> => {
      signal?.throwIfAborted();
      await this.#subfolder('pages');
      const root = await this.#root();
      const cleanWork = async (): Promise<T> => {
        for (const folder of [join(root, 'pages'), join(root, 'journals')]) {
          if (await isFolder(folder)) await removeLeftover(folder);
        }
        return work();
      };
      return withFileLock(join(root, '.stepwright.lock'), cleanWork, { signal });
    };
    const write = this.#lastWrite.then(locked);
    this.#lastWrite = write.catch(() => undefined);
    return write;
  }

  async #findBlock(id: string): Promise<BlockPlace | undefined> {
    const folder = await this.#subfolder('journals');
    for (const file of await filesIn(folder)) {
      const line = lineOfBlock(await readFile(join(folder, file), 'utf8'), id);
      if (line !== undefined) return { file: `journals/${file}`, line };
    }
    return undefined;
  }

  async #append(file: string, block: Block): Promise<BlockPlace> {
    const folder = await this.#subfolder('journals');
    let line = 1;
    await appendAtomically(join(folder, file), (before) => {
      const lineEnd = before.includes('\r\n') ? '\r\n' : '\n';
      const gap = before === '' || before.endsWith('\n') ? '' : lineEnd;
      line = `${before}${gap}`.split('\n').length;
      return gap + printBlock(block, lineEnd);
    });
    return { file: `journals/${file}`, line };
  }

  #root(): Promise<string> {
    return realpath(this.#folder).catch(() => {
      throw new GraphNotFound(this.#folder, 'the folder does not exist');
    });
  }

  async #subfolder(name: 'pages' | 'journals'): Promise<string> {
    const root = await this.#root();
    if (!(await isFolder(join(root, 'pages'))))
      throw new GraphNotFound(this.#folder, 'it has no folder `pages`');
    const folder = join(root, name);
    if (name === 'journals') {
      await mkdir(folder, { recursive: true });
      if (!(await isFolder(folder))) throw new NotAPlainFile('`journals` is a symbolic link');
    }
    return folder;
  }
}

/** `2026-01-12` → `2026_01_12.md`. */
function journalFile(day: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`'${day}' is not a day of the form yyyy-mm-dd`);
  return `${day.replaceAll('-', '_')}.md`;
}

/** Plain Markdown files only: links, folders and hidden files are left out. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md') && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
