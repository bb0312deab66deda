import type { ESLint, Linter, Rule } from 'eslint';
import { defined } from '../graph/defined.js';
import type { Severity } from '../graph/diagnostics/diagnostic.js';
import type { Span } from '../graph/source-location.js';
import type { Answer, Problem } from './service.js';
import { checkFile } from './service.js';

/** What `settings.stepwright` of a configuration of ESLint may say. */
export interface LintSettings {
  /**
   * The project's folder, relative to the working directory of ESLint. Default: the nearest folder above a file with a
   * configuration of stepwright, else with a `package.json`.
   */
  readonly root?: string;
  /** Configuration file of stepwright, relative to the root. Default: as for `stepwright check`. */
  readonly configFile?: string;
}

/** The plugin, with the configuration `recommended`: errors as errors, warnings as warnings. */
export interface LintPlugin extends ESLint.Plugin {
  readonly configs: { readonly recommended: Linter.Config[] };
}

/** Both rules get the same object for one text in one run of ESLint, and ask once. */
const answers = new WeakMap<object, Answer>();

function ruleOf(severity: Severity, description: string): Rule.RuleModule {
  return {
    meta: {
      ...{ type: 'problem', fixable: 'code', hasSuggestions: true, schema: [] },
      docs: { description },
    },
    create: (context) => ({
      Program() {
        const { sourceCode, settings, cwd, physicalFilename: file } = context;
        const { root, configFile } = (settings.stepwright ?? {}) as LintSettings;
        const cached = answers.get(sourceCode);
        const answer =
          cached ??
          checkFile({
            ...{ file, text: sourceCode.text, cwd },
            ...defined({ root, configFile }),
          });
        answers.set(sourceCode, answer);
        if ('failure' in answer) {
          const message = `stepwright cannot check this file: ${answer.failure}`;
          if (cached === undefined) context.report({ loc: { line: 1, column: 0 }, message });
          return;
        }
        for (const problem of answer.problems)
          if (problem.severity === severity) context.report(reportOf(problem, sourceCode));
      },
    }),
  };
}

/** Columns of ESLint begin at 0. */
function reportOf(
  { message, span, repair }: Problem,
  sourceCode: Rule.RuleContext['sourceCode'],
): Rule.ReportDescriptor {
  const [line, column, endLine, endColumn] = span;
  const loc = { start: { line, column: column - 1 }, end: { line: endLine, column: endColumn - 1 } };
  if (repair === undefined) return { loc, message };
  const fix = (fixer: Rule.RuleFixer): Rule.Fix =>
    fixer.replaceTextRange(rangeOf(repair.span, sourceCode), repair.text);
  if (repair.isCertain) return { loc, message, fix };
  return { loc, message, suggest: [{ desc: `Write \`${repair.text}\``, fix }] };
}

function rangeOf(
  [line, column, endLine, endColumn]: Span,
  sourceCode: Rule.RuleContext['sourceCode'],
): [number, number] {
  const start = sourceCode.getIndexFromLoc({ line, column: column - 1 });
  return [start, sourceCode.getIndexFromLoc({ line: endLine, column: endColumn - 1 })];
}

/**
 * A plugin for ESLint 9 and 10 that shows what `stepwright check` reports, also in text that is not saved.
 *
 * @example
 * ```ts
 * // eslint.config.js
 * import parser from '@typescript-eslint/parser';
 * import { stepwright } from 'stepwright/eslint';
 *
 * export default [{ files: ['**\/*.ts'], languageOptions: { parser } }, ...stepwright.configs.recommended];
 * ```
 */
export const stepwright: LintPlugin = {
  meta: { name: 'stepwright' },
  rules: {
    errors: ruleOf('error', 'the errors of `stepwright check`'),
    warnings: ruleOf('warning', 'the warnings of `stepwright check`'),
  },
  configs: { recommended: [] },
};
stepwright.configs.recommended.push({
  name: 'stepwright/recommended',
  files: ['**/*.{ts,tsx,mts,cts}'],
  plugins: { stepwright },
  rules: { 'stepwright/errors': 'error', 'stepwright/warnings': 'warn' },
});
