/** The tools, by the name that the database and the switches know them by. */
export const TOOL_NAMES = [
  'search_flights',
  'check_availability',
  'create_booking',
  'add_to_waitlist',
  'get_booking',
  'cancel_booking',
  'process_payment',
  'process_refund',
  'search_hotels',
  'book_hotel',
  'cancel_hotel',
  'confirm_trip',
  'validate_cart',
  'apply_code',
  'calculate_total',
  'charge_cart',
  'confirm_order',
] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

/** What can be made to go wrong: payments are declined, flights and hotels are full, a tool's system does not answer. */
export const TROUBLES = ['payment', 'flight', 'hotel', ...TOOL_NAMES] as const;

export type Trouble = (typeof TROUBLES)[number];

/** One thing that goes wrong. */
export type Switch =
  /** `times`: how often, before it goes well. Default: always. */
  | { readonly kind: 'fails'; readonly trouble: Trouble; readonly times?: number }
  /** The tool does its work, and the connection is reset before it answers. `times` as above. */
  | { readonly kind: 'loses'; readonly tool: ToolName; readonly times?: number }
  /** The tool does its work, and answers so many milliseconds later. */
  | { readonly kind: 'slow'; readonly tool: ToolName; readonly ms: number };

/** What goes wrong, so that workflows can be seen to deal with it. Nothing by default. */
export class Failures {
  readonly #left = new Map<Trouble, number>();
  readonly #lost = new Map<ToolName, number>();
  readonly #delays = new Map<ToolName, number>();

  constructor(switches: readonly Switch[] = []) {
    for (const each of switches) {
      if (each.kind === 'slow') this.#delays.set(each.tool, each.ms);
      else if (each.kind === 'loses') this.#lost.set(each.tool, each.times ?? Number.POSITIVE_INFINITY);
      else this.#left.set(each.trouble, each.times ?? Number.POSITIVE_INFINITY);
    }
  }

  /**
   * Reads switches as an environment variable holds them: `payment` always fails, `hotel:2` twice and
   * `create_booking:1` once, `search_flights@500` answers 500 ms late, `charge_cart!` loses its answers and
   * `charge_cart!1` one of them; commas between them.
   *
   * @throws RangeError for anything else; the message says what is known.
   */
  static parse(text: string): Failures {
    const entries = text.split(',').map((entry) => entry.trim());
    return new Failures(entries.filter((entry) => entry !== '').map(parseSwitch));
  }

  /** Whether this goes wrong now. To ask counts as one time. */
  strikes(trouble: Trouble): boolean {
    return countDown(this.#left, trouble);
  }

  /** Whether the answer of the tool is lost now. To ask counts as one time. */
  loses(tool: ToolName): boolean {
    return countDown(this.#lost, tool);
  }

  /** How late the tool answers, in milliseconds. */
  delayOf(tool: ToolName): number {
    return this.#delays.get(tool) ?? 0;
  }
}

function countDown<K>(counts: Map<K, number>, key: K): boolean {
  const left = counts.get(key) ?? 0;
  if (left > 0) counts.set(key, left - 1);
  return left > 0;
}

function parseSwitch(entry: string): Switch {
  const [, name, mark, digits] = /^([a-z_]+)(?:([:@!])(\d{1,6})|!)?$/.exec(entry) ?? [];
  const tool = TOOL_NAMES.find((each) => each === name);
  if (mark === '@' && tool !== undefined) return { kind: 'slow', tool, ms: Number(digits) };
  const times = digits === undefined ? {} : { times: Number(digits) };
  if (entry.includes('!') && tool !== undefined) return { kind: 'loses', tool, ...times };
  const trouble = TROUBLES.find((each) => each === name);
  if (mark === '@' || entry.includes('!') || trouble === undefined) {
    throw new RangeError(
      `'${entry}' is no failure: write <what>, <what>:<times>, <tool>@<ms>, <tool>! or <tool>!<times>, of ${TROUBLES.join(', ')}`,
    );
  }
  return { kind: 'fails', trouble, ...times };
}
