import { readdirSync } from 'node:fs';
import type { Diagnostic } from 'stepwright/codegen';
import { type Fence, fencesOf, page } from './fences.js';

/** A page about a diagnostic whose example is a source file. */
export interface DiagnosticExample {
  readonly code: string;
  readonly faulty: string;
  /** The output of codegen for the faulty file, as the page shows it. */
  readonly said: string;
  /** The example after the page's repair. */
  readonly repaired: string;
}

const FOLDER = 'docs/diagnostics';
const IMPORTS = `import { Agent, Arg, ask, attempt, call, delegate, done, fail, forEach, goto, owner, parallel, Prompt, type PromptMessages, prompt, read, Resource, role, run, shell, State, Step, Tool, user, wait, Workflow } from 'stepwright';
import { z } from 'zod';
import { AddLine, FindPage, Guide } from './tools.js';
`;

/** The classes that the examples use, from the source file on the index page. */
export function sharedClasses(): string {
  return one(fencesOf(page(`${FOLDER}/README.md`)), 'ts', 'README.md').body;
}

/** Every page with an example in TypeScript. The others are about files and folders, not about sources. */
export function diagnosticExamples(): DiagnosticExample[] {
  return readdirSync(new URL(`../../${FOLDER}/`, import.meta.url))
    .filter((file) => /^SW\d+\.md$/.test(file))
    .sort()
    .map((file) => ({ code: file.slice(0, -3), fences: fencesOf(page(`${FOLDER}/${file}`)) }))
    .filter(({ fences }) => fences.some((fence) => fence.language === 'ts'))
    .map(({ code, fences }) => {
      const faulty = one(fences, 'ts', code).body;
      return {
        code,
        faulty: source(code, faulty),
        said: one(fences, 'text', code).body.trimEnd(),
        repaired: source(code, applyRepair(faulty, one(fences, 'diff', code).body)),
      };
    });
}

/** Applies a repair: replaces each run of `-` lines by the `+` lines that follow it. */
export function applyRepair(text: string, diff: string): string {
  let repaired = text;
  for (const [, old = '', fresh = ''] of diff.matchAll(/((?:^-.*\n)+)((?:^\+.*\n)*)/gm)) {
    const wanted = old.replace(/^-/gm, '').trimEnd();
    if (repaired.split(wanted).length !== 2)
      throw new Error(`does not occur exactly once in the example: ${wanted}`);
    repaired = repaired.replace(wanted, () => fresh.replace(/^\+/gm, '').trimEnd());
  }
  return repaired;
}

/** Diagnostics as on the pages: without places, since the pages leave out imports. */
export function printed(diagnostics: readonly Diagnostic[]): string {
  return diagnostics
    .flatMap(({ severity, code, message, hint }) => [
      `${severity} ${code}: ${message}`,
      ...(hint === undefined ? [] : [`  = hint: ${hint}`]),
    ])
    .join('\n')
    .replace(/-sw\d{4}/g, '');
}

/** Makes names of tools, workflows and so on unique, since all examples are checked in one run. */
function source(code: string, text: string): string {
  const named = /(@(?:Tool|Resource|Workflow)\(\{ name: '[^']*)'/g;
  return IMPORTS + text.replace(named, (_, before: string) => `${before}-${code.toLowerCase()}'`);
}

function one(fences: readonly Fence[], language: string, where: string): Fence {
  const found = fences.filter((fence) => fence.language === language);
  if (found.length !== 1 || found[0] === undefined) {
    throw new Error(`${where}: ${found.length} fences of ${language}, not one`);
  }
  return found[0];
}
