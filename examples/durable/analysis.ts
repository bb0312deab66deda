/** What a rule has to say about a line of code. */
interface Rule {
  readonly check: string;
  readonly pattern: RegExp;
  readonly issue: string;
  /** What an issue costs, of 100 points. */
  readonly cost: number;
}

const RULES: readonly Rule[] = [
  { check: 'security', pattern: /\beval\(|new Function\(/, issue: 'runs text as code', cost: 30 },
  { check: 'security', pattern: /(password|secret)\s*[=:]\s*['"]/i, issue: 'has a secret in it', cost: 30 },
  { check: 'performance', pattern: /\b\w+Sync\(/, issue: 'blocks while it waits', cost: 5 },
  { check: 'style', pattern: /\b(TODO|FIXME)\b/, issue: 'is not finished', cost: 2 },
  { check: 'style', pattern: /^.{121,}$/, issue: 'is longer than 120 characters', cost: 1 },
];

/** Code as rules see it. Plain JSON. */
interface CodeReport {
  readonly issues: readonly string[];
  /** From 0 to 100. */
  readonly score: number;
}

/** Analyses code line by line. */
export function analyzeCode(code: string, checks: readonly string[]): CodeReport {
  const matches = code.split('\n').flatMap((line, index) =>
    RULES.filter(({ check, pattern }) => checks.includes(check) && pattern.test(line)).map((rule) => ({
      ...rule,
      line: index + 1,
    })),
  );
  return {
    issues: matches.map(({ check, issue, line }) => `line ${line} ${issue} (${check})`),
    score: Math.max(
      0,
      matches.reduce((score, { cost }) => score - cost, 100),
    ),
  };
}

/** So many sentences are quoted. */
const MOST_SENTENCES = 3;

/** Quotes the sentences of a text that share the most words with a task. */
export function analyzeText(text: string, task: string): string {
  const wanted = new Set(wordsOf(task));
  const sentences = text
    .split(/(?<=[.!?])\s+|["{}[\]\n]+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsOf(sentence).length > 2 && !sentence.startsWith('http'));
  const ranked = sentences
    .map((sentence) => ({ sentence, score: wordsOf(sentence).filter((word) => wanted.has(word)).length }))
    .sort((a, b) => b.score - a.score);
  return ranked
    .slice(0, MOST_SENTENCES)
    .map(({ sentence }) => sentence)
    .join(' ');
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z]{4,}/g) ?? [];
}
