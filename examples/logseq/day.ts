const MS_PER_DAY = 86_400_000;

/** A week as ISO 8601 counts them: Monday to Sunday, in the year its Thursday belongs to. */
export interface Week {
  /** `2026-W03`. */
  readonly name: string;
  /** Monday to Sunday, `yyyy-mm-dd`. */
  readonly days: readonly string[];
}

/** The day on this machine's calendar, `yyyy-mm-dd`, as Logseq itself decides which journal is today's. */
export function localToday(): string {
  const now = new Date();
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/**
 * The day a caller means, by a date or the word `today`.
 *
 * @throws RangeError for anything else, days that no calendar has among it.
 */
export function dayOf(given: string, today: () => string): string {
  const day = given === 'today' ? today() : given;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || isoDay(Date.parse(day)) !== day) {
    throw new RangeError("date must be YYYY-MM-DD or 'today'");
  }
  return day;
}

/** The week a day belongs to. @param day A day of the calendar, `yyyy-mm-dd`. */
export function weekOf(day: string): Week {
  const time = Date.parse(day);
  const weekday = (new Date(time).getUTCDay() + 6) % 7;
  const monday = time - weekday * MS_PER_DAY;
  const thursday = new Date(monday + 3 * MS_PER_DAY);
  const year = thursday.toISOString().slice(0, 4);
  const dayOfYear = (thursday.getTime() - Date.parse(`${year}-01-01`)) / MS_PER_DAY;
  const number = Math.floor(dayOfYear / 7) + 1;
  const days = [0, 1, 2, 3, 4, 5, 6].map((offset) => isoDay(monday + offset * MS_PER_DAY));
  return { name: `${year}-W${String(number).padStart(2, '0')}`, days };
}

/** Empty for a time that no date has. */
function isoDay(time: number): string {
  return Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, 10);
}
