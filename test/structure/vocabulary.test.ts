import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ROOT, type SourceText } from './source-files.js';

/** Where the idioms are banned: files, and folders with the Markdown and TypeScript in them. */
const SCOPE = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs', 'src'];

/** Idioms that a reader has to decode, or cannot search for, and the words to use instead. */
const BANNED: readonly (readonly [idiom: RegExp, instead: string])[] = [
  [/\b(tells?|told) of\b/, 'reports, lists, names'],
  [/\bhears? of\b/, 'gets, learns'],
  [/\b(stands?|stood|standing)\b/, 'is, goes, refers to, replaces, remains'],
  [/\bwho(m)?ever\b/, 'the caller, the owner, a client'],
  [/\bnobody\b/, 'no caller, no user; or the passive'],
  [/\bof (its|their) own accord\b/, 'by itself'],
  [/\bg(i|a)ven? up\b|\bgives? up\b/, 'aborted, cancelled, abandoned, times out'],
  [/\bput(s|ting)? right\b/, 'correct, repair'],
  [/\b(takes?|taken|taking|took) (it |them )?back\b/, 'undo, withdraw'],
  [/\banew\b/, 'again'],
  [/(?<!\bthere )\bis no (?!longer|more )/, 'is not a'],
  [/\bbrought along|brings? along\b/, 'supplies, includes'],
  [/\bcarr(y|ies|ied) (it |them )?out\b/, 'run, execute'],
  [/\bdeals? with\b/, 'handles'],
  [/\bunder way\b/, 'in flight, in progress'],
  [/\binside of\b/, 'inside'],
  [/\btime (was|is) up\b/, 'timed out, reached its limit'],
  [/\bof (ours|yours)\b/, 'of the server, your own'],
];

/**
 * Words of the second table of the vocabulary, and how often the texts may have them. A limit falls with the sweep of
 * each room, and never rises.
 */
const LIMITED: readonly (readonly [word: RegExp, limit: number, instead: string])[] = [
  [/\b(go|goes|went|going|gone) on\b/, 213, 'continues, resumes'],
  [/\b(come|comes|came|coming) (with|in|out)\b/, 18, 'arrives with, is part of, is returned'],
  [
    /\bwhat (it|they|he|she) (has|have|had|takes?|took|gives?|gave|needs?|says?)\b/,
    35,
    'the noun: its rows, its input',
  ],
  [/\bwhat is to come\b/, 0, 'pending calls'],
  [/\bwhatever\b/, 90, 'the noun and a verb: any value'],
  [/\bwherever\b/, 28, 'in each place that'],
  [/\bnothing\b/, 926, 'the noun and a verb: the list is empty'],
  [/(?<![`'"])\bnone\b(?![`'"])/, 501, 'the noun and a verb: no caller is notified'],
  [/\bwhose\b/, 439, 'the owner of, with'],
  [/\bonce more\b/, 13, 'again'],
  [/\bfor good\b/, 5, 'permanently'],
  [/\bas far as\b/, 37, 'up to, partial progress'],
  [/\bat rest\b/, 1, 'idle'],
  [/\bin time\b/, 12, 'before the deadline'],
  [/\btold\b/, 89, 'notified, reported'],
  [/\bmeant\b/, 36, 'intended, for'],
  [/\bbegun\b/, 100, 'started'],
  [/\boutlook\b/, 0, 'hand-off'],
  [/\bverdict\b/, 69, 'result, join'],
  [/\bsurroundings?\b/, 16, 'scope'],
];

/** The banned idioms of a file, as `file:line: idiom → instead`. What a program prints is not looked at. */
function idiomsIn({ file, text }: SourceText): string[] {
  return withoutPrinted(text)
    .split('\n')
    .flatMap((line, index) =>
      BANNED.flatMap(([idiom, instead]) => {
        const [match] = line.match(new RegExp(idiom, 'i')) ?? [];
        return match === undefined ? [] : [`${file}:${index + 1}: ${match} → ${instead}`];
      }),
    );
}

/** Text with empty lines in place of what a program prints. */
function withoutPrinted(text: string): string {
  return text.replace(/^```(?:text|json)\b.*?^```/gms, (fence) => fence.replace(/[^\n]/g, ''));
}

function count(word: RegExp, texts: readonly string[]): number {
  const every = new RegExp(word, 'gi');
  return texts.reduce((sum, text) => sum + (text.match(every)?.length ?? 0), 0);
}

function filesOf(path: string): string[] {
  if (/\.(md|ts)$/.test(path)) return existsSync(ROOT + path) ? [path] : [];
  return readdirSync(ROOT + path, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(md|ts)$/.test(file))
    .map((file) => `${path}/${file.replaceAll('\\', '/')}`);
}

test('the texts use the words of the field', () => {
  const files = SCOPE.flatMap(filesOf).map((file) => ({ file, text: readFileSync(ROOT + file, 'utf8') }));
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap(idiomsIn)).toEqual([]);
});

describe('the texts have at most as many', () => {
  const texts = SCOPE.flatMap(filesOf).map((file) => withoutPrinted(readFileSync(ROOT + file, 'utf8')));

  test.each(LIMITED)('%s as before: at most %d; use %s', (word, limit) => {
    expect(count(word, texts)).toBeLessThanOrEqual(limit);
  });
});

describe('the rule', () => {
  test.each([
    'Whoever asks is told.',
    'The run stands as it was.',
    'A name that is no id.',
    'The call was given up.',
    'Two runs under way.',
  ])('refuses "%s"', (text) => {
    expect(idiomsIn({ file: 'a.md', text })).toHaveLength(1);
  });

  test.each([
    'There is no such tool, and it is no longer listed.',
    'This is standard. I understand.',
    '```text\nNobody can be greeted\n```',
  ])('allows "%s"', (text) => {
    expect(idiomsIn({ file: 'a.md', text })).toEqual([]);
  });

  test('names the line and the words to use', () => {
    const text = 'a\n```text\nwhoever\n```\nNobody knows.';
    expect(idiomsIn({ file: 'a.md', text })).toEqual(['a.md:5: Nobody → no caller, no user; or the passive']);
  });
});
