import path from 'node:path';
import {
  type NamedTool,
  nameTools,
  pascalCase,
  type UpstreamSnapshot,
} from '../../runtime/upstream/snapshot.js';
import { classesHeader, usableTools } from './classes.js';
import { propertyName } from './type-text.js';

export interface DoublesRequest {
  /** The name of the server in the configuration. */
  readonly server: string;
  readonly snapshot: UpstreamSnapshot;
  /** The file of the classes, which is beside that of the doubles. */
  readonly classes: string;
}

/** Prints a module with a function for doubles of all tools that have classes: the same text for the same snapshot. */
export function doublesText({ server, snapshot, classes }: DoublesRequest): string {
  const named = nameTools(server, usableTools(snapshot.tools).tools);
  if (named.length === 0) return `${classesHeader(server)}\nexport {};\n`;
  const name = pascalCase(server);
  const factory = `${name.charAt(0).toLowerCase()}${name.slice(1)}Doubles`;
  const answers = named.map((tool) => `  readonly ${keyOf(tool)}?: DoubleAnswer<tools.${tool.className}>;`);
  const entries = named.map((tool) => `      ${keyOf(tool)}: tools.${tool.className},`);
  return [
    classesHeader(server),
    "import { type DoubleAnswer, doublesOf, type UpstreamDouble } from 'stepwright/testing';",
    `import * as tools from './${path.posix.basename(classes).replace(/ts$/, 'js')}';`,
    '',
    '/** What doubles of the tools answer. One without an answer gives a value made up from the output schema. */',
    `export interface ${name}Answers {`,
    ...answers,
    '}',
    '',
    `/** Doubles of all tools of the upstream server \`${server}\`, for \`upstreamDoubles\`. */`,
    `export function ${factory}(answers: ${name}Answers = {}): readonly UpstreamDouble[] {`,
    '  return doublesOf(',
    '    {',
    ...entries,
    '    },',
    '    answers,',
    '  );',
    '}',
    '',
  ].join('\n');
}

/** The name that the server gives a tool, or the class for one that every object has, such as `toString`. */
function keyOf({ tool, className }: NamedTool): string {
  return tool.name in Object.prototype ? className : propertyName(tool.name);
}
