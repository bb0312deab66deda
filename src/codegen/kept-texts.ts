/** What is kept of one thing, with what it was made from. */
export interface KeptText {
  /** Another mark makes it worthless. */
  readonly mark: string;
  /** JSON. */
  readonly body: string;
}

/** Texts by name that processes hand on to each other. One is parsed when it is asked for, which most of them never are. */
export class KeptTexts {
  readonly #texts: ReadonlyMap<string, KeptText>;

  constructor(texts: Iterable<readonly [string, KeptText]> = []) {
    this.#texts = new Map(texts);
  }

  get(name: string, mark: string): KeptText | undefined {
    const found = this.#texts.get(name);
    return found?.mark === mark ? found : undefined;
  }
}

type Section = Readonly<Record<string, readonly (readonly [string, KeptText])[]>>;

/** What a text of {@link printKept} begins with. */
export interface KeptHeader {
  /** Of the software that has made it: no other reads it. */
  readonly key: string;
}

/** One line for the header, and one for each text: JSON has no line breaks. */
export function printKept(header: KeptHeader, sections: Section): string {
  const lines = Object.entries(sections).flatMap(([section, texts]) =>
    texts.map(([name, { mark, body }]) => `${JSON.stringify([section, name, mark])}\t${body}`),
  );
  return [JSON.stringify(header), ...lines].join('\n');
}

/** Nothing for a text of another key. */
export function parseKept<Header extends KeptHeader>(text: string, key: string): Kept<Header> | undefined {
  const [first = '', ...lines] = text.split('\n');
  const header = JSON.parse(first) as Header | null;
  if (header?.key !== key) return undefined;
  const found = new Map<string, [string, KeptText][]>();
  for (const line of lines) {
    const end = line.indexOf('\t');
    const [section, name, mark] = JSON.parse(line.slice(0, end)) as [string, string, string];
    const texts = found.get(section) ?? [];
    texts.push([name, { mark, body: line.slice(end + 1) }]);
    found.set(section, texts);
  }
  return { header, section: (name) => new KeptTexts(found.get(name)) };
}

interface Kept<Header> {
  readonly header: Header;
  /** Empty for a section that is not there. */
  section(name: string): KeptTexts;
}
