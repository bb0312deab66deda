import {
  type Alias,
  Composer,
  CST,
  type Document,
  isAlias,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type ParsedNode,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import {
  describeLocated,
  type Located,
  type LocatedText,
  type Offsets,
  pieceOffsets,
  piecesOf,
  plainOffsets,
  pointerTo,
  type SourceText,
} from './located.js';
import {
  MapEntries,
  overLimit,
  type ReadText,
  type Refusal,
  type RepeatedKey,
  Reports,
  refused,
  type TextLimits,
} from './reading.js';

/** How many faults of syntax are reported: later ones mostly follow from the first. */
const MOST_SYNTAX_FAULTS = 10;

/** How the parser reads a file. */
export const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: false,
  // Repeated keys are found below: the parser compares each key with each.
  uniqueKeys: false,
  resolveKnownTags: false,
  prettyErrors: false,
  logLevel: 'error',
} as const;

/** Reads YAML 1.2 (core schema), strictly. */
export function readYaml(source: SourceText, limits: TextLimits, repeatedKey?: RepeatedKey): ReadText {
  const reports = new Reports(source);
  const bounded = boundedTokens(source.text, limits);
  if (!Array.isArray(bounded)) {
    reports.refuse(bounded);
    return { diagnostics: reports.diagnostics };
  }
  const composer = new Composer(YAML_OPTIONS);
  const [document, second] = [...composer.compose(bounded, true, source.text.length)] as Document.Parsed[];
  for (const { message, pos } of (document?.errors ?? []).slice(0, MOST_SYNTAX_FAULTS))
    reports.report('SW5002', { start: pos[0], end: pos[1] }, { format: 'YAML', problem: problemOf(message) });
  if (second !== undefined) {
    const [start, end] = second.range;
    const instead = 'write it into a file of its own';
    reports.report('SW5003', { start, end }, { what: 'a second document', instead });
  }
  if (reports.hasErrors) return { diagnostics: reports.diagnostics };
  const root = new YamlReading(reports, limits, repeatedKey).read(
    (document?.contents ?? null) as ParsedNode | null,
  );
  return { diagnostics: reports.diagnostics, ...(reports.isComplete ? { root } : {}) };
}

/** Lexemes that do not count as tokens. */
const UNCOUNTED: ReadonlySet<string | null> = new Set([
  'space',
  'newline',
  'comment',
  'doc-mode',
  'flow-error-end',
  'map-value-ind',
  null,
]);

const COLLECTIONS: ReadonlySet<string> = new Set(['block-map', 'block-seq', 'flow-collection']);

/**
 * The syntax tree of a text, or why the text is refused. The tree is made without recursion, so its limits are checked
 * while it grows. Composing values of it is recursive, and its errors grow with what is wrong.
 */
function boundedTokens(text: string, limits: TextLimits): CST.Token[] | Refusal {
  const parser = new Parser();
  const tree: CST.Token[] = [];
  let [offset, tokens, aliases] = [0, 0, 0];
  let isContent = false;
  for (const lexeme of new Lexer().lex(text)) {
    // A mark announces the content of a scalar. Such marks have no length in the text.
    const type = isContent ? null : CST.tokenType(lexeme);
    if (type === 'directive-line')
      return refused(offset, 'a directive (`%`)', 'remove it: files are YAML 1.2');
    if (!UNCOUNTED.has(type)) tokens += 1;
    if (type === 'alias') aliases += 1;
    if (tokens > limits.tokens) return overLimit(offset, 'tokens', limits.tokens);
    if (aliases > limits.aliases) return overLimit(offset, 'aliases', limits.aliases);
    tree.push(...parser.next(lexeme));
    if (parser.stack.length > limits.depth && depthOf(parser) > limits.depth)
      return overLimit(offset, 'levels of nesting', limits.depth);
    isContent = lexeme === CST.SCALAR;
    if (!isContent && lexeme !== CST.DOCUMENT && lexeme !== CST.FLOW_END) offset += lexeme.length;
  }
  tree.push(...parser.end());
  return tree;
}

function depthOf({ stack }: Parser): number {
  return stack.filter(({ type }) => COLLECTIONS.has(type)).length;
}

function problemOf(message: string): string {
  const text = message.split('\n', 1)[0] ?? '';
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Makes located values of the nodes of a document, in order, so that an alias finds the anchor before it. */
class YamlReading {
  readonly #reports: Reports;
  readonly #limits: TextLimits;
  readonly #repeatedKey: RepeatedKey | undefined;
  readonly #anchors = new Map<string, ParsedNode>();
  /** The nodes with an anchor that are being read. */
  readonly #open = new Set<Node>();
  /** The alias whose target is read, the outermost one. */
  #alias: Alias.Parsed | undefined;
  #expanded = 0;

  constructor(reports: Reports, limits: TextLimits, repeatedKey: RepeatedKey | undefined) {
    this.#reports = reports;
    this.#limits = limits;
    this.#repeatedKey = repeatedKey;
  }

  read(node: ParsedNode | null, pointer = ''): Located {
    if (node === null) return nothing(this.#reports.source.text.length, pointer);
    if (isAlias(node)) return this.#target(node, pointer);
    const [start, end] = node.range;
    if (this.#alias !== undefined) this.#expand(this.#alias);
    if (node.tag !== undefined) {
      this.#reports.report(
        'SW5003',
        { start, end, pointer },
        {
          what: `the tag \`${node.tag.replace('tag:yaml.org,2002:', '!!')}\``,
          instead: 'remove it; quote what is to be text',
        },
      );
    }
    if (isScalar(node)) return this.#scalar(node, start, end, pointer);
    return this.#collection(node, start, lastEnd(node), pointer);
  }

  #collection(node: YAMLMap.Parsed | YAMLSeq.Parsed, start: number, end: number, pointer: string): Located {
    if (node.anchor !== undefined) {
      this.#anchors.set(node.anchor, node);
      this.#open.add(node);
    }
    const located: Located = isSeq(node)
      ? {
          kind: 'list',
          items: (node as YAMLSeq.Parsed).items.map((item, index) =>
            this.read(item as ParsedNode | null, pointerTo(pointer, index)),
          ),
          start,
          end,
          pointer,
        }
      : { kind: 'map', entries: this.#entries(node as YAMLMap.Parsed, pointer), start, end, pointer };
    this.#open.delete(node);
    return located;
  }

  #entries(node: YAMLMap.Parsed, pointer: string): MapEntries['entries'] {
    const map = new MapEntries(this.#reports, this.#repeatedKey);
    for (const pair of node.items) {
      const key = this.#key(pair.key as ParsedNode | null, pointer);
      if (key === undefined) continue;
      const value = pair.value as ParsedNode | null;
      const inner = key.pointer;
      // A key without a value ends where its value would begin.
      map.add(key, value === null ? nothing(key.end, inner) : this.read(value, inner));
    }
    return map.entries;
  }

  #key(node: ParsedNode | null, pointer: string): LocatedText | undefined {
    if (isScalar(node) && typeof node.value === 'string') pointer = pointerTo(pointer, node.value);
    const located = this.read(node, pointer);
    if (located.kind === 'text') return located;
    const what = `a key that is ${describeLocated(located)}`;
    const instead = 'source' in located ? `quote it: \`"${located.source}"\`` : 'write a name';
    this.#reports.report('SW5003', located, { what, instead });
    return undefined;
  }

  #scalar(node: Scalar.Parsed, start: number, end: number, pointer: string): Located {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    const { value } = node;
    const source = node.source ?? '';
    if (typeof value === 'string') {
      return { kind: 'text', value, start, end, pointer, offsetAt: this.#offsets(node, start, end) };
    }
    if (typeof value === 'number') {
      const exact = this.#reports.number(value, source, { start, end });
      return { kind: 'number', value: exact, source, start, end, pointer };
    }
    if (typeof value === 'boolean') return { kind: 'boolean', value, source, start, end, pointer };
    return { kind: 'null', value: null, source, start, end, pointer };
  }

  #offsets(node: Scalar.Parsed, start: number, end: number): Offsets {
    const source = this.#reports.source.text.slice(start, end);
    const isOneLine = !source.includes('\n');
    if (node.type === 'PLAIN' && isOneLine) return plainOffsets(start);
    const isQuoted = node.type === 'QUOTE_SINGLE' || node.type === 'QUOTE_DOUBLE';
    if (isQuoted && isOneLine) return quotedOffsets(start, source);
    if (node.type === 'BLOCK_LITERAL') return literalOffsets(start, source);
    return () => start;
  }

  #target(node: Alias.Parsed, pointer: string): Located {
    const [start, end] = node.range;
    const target = this.#anchors.get(node.source);
    if (target === undefined || this.#open.has(target)) {
      const what = target === undefined ? 'an alias without an anchor' : 'an alias of what it is in';
      const instead = target === undefined ? `write \`&${node.source}\` before it` : 'write the value out';
      this.#reports.report('SW5003', { start, end }, { what: `${what} (\`*${node.source}\`)`, instead });
      return nothing(start, pointer);
    }
    if (this.#expanded > this.#limits.expanded) return nothing(start, pointer);
    const outer = this.#alias;
    this.#alias ??= node;
    const located = this.read(target, pointer);
    this.#alias = outer;
    return located;
  }

  #expand({ range: [offset] }: Alias.Parsed): void {
    this.#expanded += 1;
    if (this.#expanded === this.#limits.expanded + 1)
      this.#reports.refuse(overLimit(offset, 'values behind aliases', this.#limits.expanded));
  }
}

/** Where a value ends: a collection without brackets ends with its last value, without the comments behind it. */
function lastEnd(node: ParsedNode): number {
  if (isAlias(node) || isScalar(node) || node.flow === true) return node.range[1];
  const last = node.items.at(-1);
  const value = isPair(last) ? (last.value ?? last.key) : last;
  return value == null ? node.range[1] : lastEnd(value as ParsedNode);
}

function nothing(offset: number, pointer: string): Located {
  return { kind: 'null', value: null, source: '', start: offset, end: offset, pointer };
}

/** Escapes of double quotes. */
const ESCAPE = /\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)/g;
const NO_ESCAPE = /(?!)/g;

function unitsOf(sequence: string): number {
  return sequence[1] === 'U' && Number.parseInt(sequence.slice(2), 16) > 0xffff ? 2 : 1;
}

/** Where the characters of a text in quotes are, if it is written on one line. */
function quotedOffsets(start: number, source: string): Offsets {
  const inner = (): string => source.slice(1, -1);
  if (source.startsWith("'")) return pieceOffsets(start + 1, () => piecesOf(inner(), /''/g, () => 1));
  const pattern = source.includes('\\') ? ESCAPE : NO_ESCAPE;
  return pieceOffsets(start + 1, () => piecesOf(inner(), pattern, unitsOf));
}

/** Lines of a literal block text are written as they are, behind the same indentation. */
function literalOffsets(start: number, source: string): Offsets {
  const header = source.slice(0, source.indexOf('\n'));
  // With an explicit indentation, the first line may have more.
  if (/\d/.test(header.replace(/ #.*/, ''))) return () => start;
  return pieceOffsets(start, () => literalPieces(source));
}

function* literalPieces(source: string): Generator<readonly [number, number]> {
  const [header = '', ...lines] = source.split('\n');
  const first = lines.find((line) => /[^ \r]/.test(line)) ?? '';
  const indent = first.search(/[^ ]/);
  yield [header.length + 1, 0];
  for (const line of lines) {
    const skipped = Math.min(indent, line.length);
    yield [skipped, 0];
    // The line break of Windows is one character of the value.
    const rest = line.slice(skipped).replace(/\r$/, '');
    yield [rest.length, rest.length];
    yield [line.length - skipped - rest.length + 1, 1];
  }
}
