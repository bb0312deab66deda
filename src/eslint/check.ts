import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { type CodegenResult, runRecorded } from '../codegen/codegen.js';
import { Inputs } from '../codegen/incremental/inputs.js';
import { CodegenSession } from '../codegen/incremental/memory.js';
import { foldersAbove, realPath, SOURCE, sourceNames, textIn } from '../formats/source-record.js';
import { defined } from '../graph/defined.js';
import type { Diagnostic, DiagnosticCode } from '../graph/diagnostics/diagnostic.js';
import { formatLocation, type Span } from '../graph/source-location.js';
import type { Problem, Repair, Request } from './service.js';

/** Checks the files of projects, as `stepwright check` does, one after the other. */
export class Checker {
  readonly #projects = new Map<string, Project>();

  /** The problems of a file, in their order; none for a file that codegen does not read. */
  async check({ file, text, cwd, root, configFile }: Request): Promise<readonly Problem[]> {
    // A file behind a link is one of the project by the path that the project has for it.
    const [named, start] = isBelow(file, cwd) ? [file, cwd] : [realPath(file), realPath(cwd)];
    const written = path.resolve(start, root ?? rootOf(path.dirname(named), start));
    const folder = realpathSync(written);
    const inProject = isBelow(named, written)
      ? path.relative(written, named)
      : path.relative(folder, realPath(file));
    const key = JSON.stringify([folder, configFile]);
    const project = this.#projects.get(key) ?? new Project(folder, configFile);
    this.#projects.set(key, project);
    return project.check(inProject.split(path.sep).join('/'), text);
  }
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder + path.sep);
}

/** The nearest folder with a configuration, else with a `package.json`, up to the working directory; else that. */
function rootOf(folder: string, cwd: string): string {
  const above = foldersAbove(folder);
  const all = above.slice(0, above.indexOf(cwd) + 1 || undefined);
  const isConfigured = (each: string): boolean =>
    existsSync(path.join(each, 'stepwright.config.json')) ||
    /"stepwright"\s*:\s*\{/.test(manifestOf(each) ?? '');
  return all.find(isConfigured) ?? all.find((each) => manifestOf(each) !== undefined) ?? cwd;
}

function manifestOf(folder: string): string | undefined {
  return textIn(path.join(folder, 'package.json'));
}

/** What a run came to, and what it depends on. */
interface Run {
  readonly result: CodegenResult;
  readonly inputs: Inputs;
  readonly names: string;
}

class Project {
  readonly #root: string;
  readonly #configFile: string | undefined;
  readonly #session = new CodegenSession();
  #saved: Run | undefined;

  constructor(root: string, configFile: string | undefined) {
    this.#root = root;
    this.#configFile = configFile;
  }

  async check(file: string, text: string): Promise<readonly Problem[]> {
    const absolute = path.join(this.#root, file);
    const isSaved = existsSync(absolute) && withoutMark(readFileSync(absolute, 'utf8')) === withoutMark(text);
    const { diagnostics } = isSaved
      ? await this.#checkSaved(absolute)
      : (await this.#run(new Map([[absolute, text]]))).result;
    const unread = diagnostics.find(isOfProject);
    if (unread !== undefined) return [projectProblem(unread)];
    return diagnostics.flatMap((each) => {
      // Modules are imported as they are saved, and may lack what has been written since.
      if (each.place?.file !== file || (!isSaved && each.code.startsWith('SW60'))) return [];
      return [problemOf(each, each.place, text)];
    });
  }

  /** One run serves all files, as long as nothing that it depends on is different. */
  async #checkSaved(absolute: string): Promise<CodegenResult> {
    const existing = this.#saved;
    if (existing?.inputs.areCurrent([])) {
      if (existing.inputs.paths.has(absolute) || sourceNames(this.#root) === existing.names)
        return existing.result;
    }
    this.#saved = await this.#run();
    return this.#saved.result;
  }

  async #run(overlay?: ReadonlyMap<string, string>): Promise<Run> {
    const names = sourceNames(this.#root);
    const inputs = new Inputs(this.#root);
    const result = await runRecorded(
      {
        ...{ root: this.#root, check: true, session: this.#session },
        ...defined({ configFile: this.#configFile, overlay }),
      },
      inputs,
    );
    return { result, inputs, names };
  }
}

const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '');

/** What ESLint has no interest in: whether the registry is written. */
const OF_OUTPUTS: ReadonlySet<DiagnosticCode> = new Set(['SW9001', 'SW9004', 'SW9005']);

/** Whether the project could not be read, so that nothing is known of its files. */
function isOfProject({ code, severity, place }: Diagnostic): boolean {
  const isSource = place !== undefined && SOURCE.test(place.file);
  return severity === 'error' && code.startsWith('SW9') && !isSource && !OF_OUTPUTS.has(code);
}

function projectProblem({ code, message, place }: Diagnostic): Problem {
  const where = place === undefined ? '' : `${formatLocation(place)}: `;
  return {
    severity: 'error',
    message: `stepwright cannot check this file: ${where}${code}: ${message}`,
    span: [1, 1, 1, 1],
  };
}

function problemOf(result: Diagnostic, place: NonNullable<Diagnostic['place']>, text: string): Problem {
  const { code, severity, message, hint } = result;
  const repair = repairOf(result, text);
  return {
    severity,
    message: `${code}: ${message}${hint === undefined ? '' : ` (${hint})`}`,
    span: place.span,
    ...defined({ repair }),
  };
}

/**
 * The repair of a diagnostic, where its place is all that has to change: a comment that silences nothing, and a name
 * that is near another one.
 *
 * @param text - of the file.
 */
export function repairOf({ code, place, params = {} }: Diagnostic, text: string): Repair | undefined {
  if (place === undefined) return undefined;
  if (code === 'SW9013') return { span: wholeLine(place.span, text), text: '', isCertain: true };
  const { suggestion } = params;
  if (typeof suggestion !== 'string') return undefined;
  const current = textAt(place.span, text);
  const names = Object.values(params).filter((value): value is string => typeof value === 'string');
  const wrong = names.find((name) => name !== suggestion && isName(name) && endsWithName(current, name));
  if (wrong === undefined) return undefined;
  const [, , endLine, endColumn] = place.span;
  const end = endColumn - (/['"]$/.test(current) ? 1 : 0);
  return { span: [endLine, end - wrong.length, endLine, end], text: suggestion, isCertain: false };
}

const isName = (name: string): boolean => /^[\w$-]+$/.test(name);

/** Whether a text is a name, in quotes or behind a dot or not. */
function endsWithName(text: string, name: string): boolean {
  return text === name || text.endsWith(`.${name}`) || /^(['"])(.*)\1$/.exec(text)?.[2] === name;
}

function textAt([line, column, endLine, endColumn]: Span, text: string): string {
  return line === endLine ? (linesOf(text)[line - 1] ?? '').slice(column - 1, endColumn - 1) : '';
}

/** The line of a span with its end, where there is nothing else in it. */
function wholeLine(span: Span, text: string): Span {
  const [line, column, endLine, endColumn] = span;
  const lines = linesOf(text);
  const before = lines[line - 1]?.slice(0, column - 1) ?? '';
  const after = lines[endLine - 1]?.slice(endColumn - 1) ?? '';
  if (after.trim() !== '') return span;
  if (before.trim() === '' && endLine < lines.length) return [line, 1, endLine + 1, 1];
  return [line, before.trimEnd().length + 1, endLine, endColumn];
}

const linesOf = (text: string): readonly string[] => text.split(/\r\n|[\n\r\u2028\u2029]/);
