import { error, listed, nearest, warning } from './entry.js';

/** Whether a pattern is valid in JSON Schema; the run time may support fewer. */
const isRegularExpression = (pattern: string): boolean => {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};

export const moduleFaults = {
  SW6001: error(
    (p: { file: string; reason: string }) => `\`${p.file}\` cannot be imported: ${p.reason}`,
    () => 'codegen imports tool modules to read their schemas; keep side effects out of the top level',
  ),
  SW6002: error(
    (p: { tool: string; which: string; reason: string }) =>
      `the ${p.which} schema of tool \`${p.tool}\` has no JSON Schema form: ${p.reason}`,
  ),
  SW6003: error(
    (p: { tool: string }) => `tool \`${p.tool}\` takes input but declares no schema`,
    () => 'give the parameter of `execute` a type, or add `input: z.object({ … })` to @Tool',
  ),
  SW6004: error(
    (p: { resource: string; file: string }) =>
      `resource \`${p.resource}\` names the file \`${p.file}\`, which cannot be read`,
  ),
  SW6005: error(
    (p: { file: string; reason: string }) => `\`${p.file}\` was not read to its end: ${p.reason}`,
    () =>
      'what a module does at its top level runs in codegen: move it into `execute`, or raise `moduleLimits` in stepwright.config.json',
  ),
  SW6006: error(
    (p: { tool: string; which: string }) =>
      `the ${p.which} schema of tool \`${p.tool}\` is not an object schema`,
    () => 'MCP tools take and return objects: wrap it in `z.object({ … })`',
  ),
  SW6007: error(
    (p: { className: string; reason: string }) =>
      `\`${p.className}\` differs from its source when it is loaded: ${p.reason}`,
    () => 'is a second copy of stepwright installed? `npm ls stepwright` shows it',
  ),
  SW6008: error(
    (p: { tool: string; path: string; type: string }) =>
      `\`${p.path}\` of tool \`${p.tool}\` is of the type \`${p.type}\`, which has no JSON form`,
    () =>
      'callers send and get JSON: text, numbers, booleans, null, lists, tuples, records and objects of these',
  ),
  SW6009: error(
    (p: { tool: string; path: string; tag: string; problem: string }) =>
      `\`@${p.tag}\` of \`${p.path}\` of tool \`${p.tool}\` ${p.problem}`,
  ),
  SW6010: error(
    (p: { path: string; owner: string; pattern: string; problem: string }) =>
      `the pattern \`${p.pattern}\` at \`${p.path}\` of ${p.owner} ${p.problem}`,
    (p) =>
      isRegularExpression(p.pattern)
        ? 'write it without lookaround, `(?=…)` and `(?<=…)`, and without `\\1`; or check the value in code'
        : 'JSON Schema reads patterns as regular expressions with the flag `u`',
  ),
  SW6011: warning(
    (p: { tool: string; problem: string }) => `the results of tool \`${p.tool}\` go unchecked: ${p.problem}`,
    () => 'return what JSON has, or give @Tool an `output` schema',
  ),
  SW6012: error(
    (p: { tool: string; count: number }) =>
      `\`execute\` of tool \`${p.tool}\` has ${p.count} signatures, and a schema is made from one`,
    () => 'write one signature, with unions for what may be given, or give @Tool `input` and `output`',
  ),
  SW6013: error(
    (p: { file: string; limitMb: number }) =>
      `\`${p.file}\` was not read to its end: its process used more than ${p.limitMb} MiB of memory`,
    () => 'load what is large in `execute`, or raise `moduleLimits.memoryMb` in stepwright.config.json',
  ),
  SW6014: error(
    (p: { count: number; reason: string }) =>
      `${p.count === 1 ? 'one tool module was' : `${p.count} tool modules were`} not read: the process that imports them ended before the first one: ${p.reason}`,
    () => 'what `NODE_OPTIONS` loads runs in this process too',
  ),
  SW6015: error(
    (p: { count: number; file: string; stops: number }) =>
      `\`${p.file}\`${p.count === 1 ? ' was' : ` and ${p.count - 1} more ${p.count === 2 ? 'module' : 'modules'} were`} not read: ${p.stops} modules before were stopped at their limits`,
    () => 'repair the modules that were stopped; they may import the same file that hangs',
  ),
  SW6020: warning(
    (p: { tool: string; property: string }) =>
      `\`${p.property}\` of tool \`${p.tool}\` has a default in its schema, and steps of workflows have to give it`,
    () =>
      "declare it as `Arg<T, 'default'>`, which is always there in `execute` and optional for steps; `ToolInput<typeof schema>` does so for a whole schema",
  ),
  SW6021: error(
    (p: { tool: string; property: string }) =>
      `\`${p.property}\` of tool \`${p.tool}\` is declared as \`Arg<T, 'default'>\`, and no schema gives it a default`,
    () => 'give @Tool an `input` schema with a default for it, or make it optional: `name?: T`',
  ),
  SW6022: warning(
    (p: { tool: string; keyword: string }) =>
      `the input schema of tool \`${p.tool}\` has \`${p.keyword}\` at its top, and some hosts refuse all tools of a server then`,
    () =>
      "add `listedSchema: 'flat'` to @Tool, which lists one object with the fields of all forms; or take the alternatives as one field of the input",
  ),
  SW6023: warning(
    (p: { tool: string; isHidden: boolean }) =>
      `\`listedSchema: 'flat'\` of tool \`${p.tool}\` has no effect: ${p.isHidden ? 'clients do not see it' : 'its input schema has no `oneOf`, `anyOf` or `allOf` at its top'}`,
    () => 'remove it',
  ),
  SW6016: error(
    (p: { name: string; what: string; why: string }) =>
      `the type \`${p.name}\` of ${p.what} is read as \`any\`: ${p.why}`,
    () => 'install the package with its types, or correct the import; or write the type out',
  ),
  SW6017: error(
    (p: { file: string; problem: string }) => `\`${p.file}\` is not valid JSON: ${p.problem}`,
    () => 'repair it: Node reads it to load the modules of tools and resources',
  ),
  SW6018: error(
    (p: { owner: string; pointer: string; problem: string }) =>
      `${p.owner} cannot check values${p.pointer === '' ? ': it' : `: \`${p.pointer}\``} ${p.problem}`,
    () =>
      'write JSON Schema of draft 2020-12, or name an older dialect by `$schema`; a `$ref` names a part of the same schema',
  ),
  SW6030: error(
    (p: { className: string; specifier: string; package: string }) =>
      `codegen cannot read \`${p.className}\` of \`${p.specifier}\`: package \`${p.package}\` has no manifest`,
    () =>
      'in the package, add `"manifest": "stepwright.manifest.json"` to its registry in stepwright.config.json, run `stepwright codegen`, and publish the file',
  ),
  SW6031: error(
    (p: { package: string; file: string; problem: string }) =>
      `the manifest \`${p.file}\` of package \`${p.package}\` is damaged: ${p.problem}`,
    () => 'install the package again; in a package of your own, run `stepwright codegen`',
  ),
  SW6032: error(
    (p: { package: string; file: string; what: string; actual: number; wanted: number }) =>
      `the manifest \`${p.file}\` of package \`${p.package}\` has ${p.what} ${p.actual}, this version of stepwright reads ${p.what} ${p.wanted}`,
    (p) =>
      p.actual > p.wanted
        ? 'update stepwright, or install an older version of the package'
        : 'install a version of the package that was built with this version of stepwright',
  ),
  SW6033: error(
    (p: { package: string; file: string; actual: string; installed: string }) =>
      `the manifest \`${p.file}\` is that of \`${p.actual}\`, and the package beside it is \`${p.installed}\``,
    () =>
      'run `stepwright codegen` in the package after its name or version has changed, and publish the file',
  ),
  SW6034: error(
    (p: { className: string; specifier: string; package: string; isListed: boolean }) =>
      p.isListed
        ? `the manifest of package \`${p.package}\` lists \`${p.className}\` of \`${p.specifier}\`, which does not export it`
        : `the manifest of package \`${p.package}\` does not list \`${p.className}\` of \`${p.specifier}\` as a tool or a resource`,
    (p) =>
      p.isListed
        ? 'in the package, run `stepwright codegen` and its build from the same sources'
        : 'a manifest lists the classes under @Tool and @Resource; if it is one, run `stepwright codegen` in the package',
  ),
  SW6035: error(
    (p: { className: string; package: string; why: string }) =>
      `\`${p.className}\` cannot be listed in the manifest of package \`${p.package}\`: ${p.why}`,
  ),
} as const;

/** Faults of what codegen writes, and of how it is configured. */
export const outputFaults = {
  SW9001: error(
    (p: { file: string; state?: 'stale' | 'missing' }) => `\`${p.file}\` is ${p.state ?? 'stale'}`,
    () => 'run `stepwright codegen` and commit the result',
  ),
  SW9002: error(
    (p: { file: string; problem: string; suggestion?: string | undefined; candidates?: readonly string[] }) =>
      `configuration \`${p.file}\`: ${p.problem}`,
    (p) => nearest(p) ?? (p.candidates?.length ? `the settings here are ${listed(p.candidates)}` : undefined),
  ),
  SW9003: error(
    (p: { patterns: string; what?: 'spec file' | undefined; isBare?: boolean }) =>
      `no ${p.what ?? 'source file'} matches ${p.patterns}`,
    (p) =>
      p.isBare
        ? '`npx stepwright init` writes a project into an empty folder'
        : 'correct the patterns, or add the files',
  ),
  SW9004: error(
    (p: { file: string; isFolder?: boolean }) =>
      p.isFolder
        ? `\`${p.file}\` is a folder, and a file is to be written there`
        : `\`${p.file}\` was not written by stepwright, and is not overwritten`,
    (p) => `name another file in \`out\`, or delete ${p.isFolder ? 'the folder' : 'this one'}`,
  ),
  SW9005: error((p: { file: string; reason: string }) => `\`${p.file}\` cannot be written: ${p.reason}`),
  SW9006: warning(
    (p: { file: string; count: number }) =>
      `\`${p.file}\` is empty: no class in ${p.count === 1 ? 'its one source file' : `its ${p.count} source files`} has a decorator of stepwright`,
    () => 'let the sources include the files with the classes, or remove the registry',
  ),
  SW9010: error(
    (p: { code: string; suggestion?: string | undefined }) => `there is no diagnostic \`${p.code}\``,
    nearest,
  ),
  SW9011: error(
    (p: { code: string; wanted: string }) => `\`${p.code}\` is an error, and cannot be made ${p.wanted}`,
    () => 'only warnings can be turned off or changed',
  ),
  SW9012: error(
    (p: { problem: string }) => `the comment \`stepwright-ignore\` ${p.problem}`,
    () => 'write `// stepwright-ignore SW3010: why it is right here`',
  ),
  SW9013: warning(
    (p: { code: string }) => `nothing here is reported as \`${p.code}\`: the comment silences nothing`,
    () => 'remove the comment, or move it above the line that is reported',
  ),
  SW9014: error(
    (p: { file: string; className?: string | undefined; reason: string }) =>
      `stepwright failed while it read ${p.className === undefined ? '' : `class \`${p.className}\` of `}\`${p.file}\`: ${p.reason}`,
    () =>
      'this is a fault of stepwright: please report it with the file; `STEPWRIGHT_DEBUG=1` shows where it happened',
  ),
  SW9015: error(
    (p: { file: string; limit: number }) => `\`${p.file}\` is nested more than ${p.limit} levels deep`,
    () => 'split it here, with constants or functions in between; or leave the file out of the sources',
  ),
  SW9016: error(
    (p: { limit: number }) => `the expression is nested more than ${p.limit} levels deep`,
    () =>
      'every operator and every branch is a level: write long text as one template, compute parts in steps of their own, or let a tool do it',
  ),
  SW9017: warning(
    (p: { script: string; file: string }) =>
      `script \`${p.script}\` runs \`${p.file}\` by Node.js alone, which does not compile decorators`,
    (p) => `run it with \`tsx ${p.file}\`, or compile it and run the JavaScript`,
  ),
  SW9018: error(
    (p: { file: string }) =>
      `the packages of the project are those of \`${p.file}\`, and this process runs without Yarn's Plug'n'Play`,
    () =>
      'run it with `yarn stepwright`, or set `nodeLinker: node-modules` in `.yarnrc.yml` and run `yarn install`',
  ),
  SW9019: error(
    (p: { file: string; version: string }) =>
      `\`${p.file}\` is CommonJS, and Node.js ${p.version} does not \`require\` ES modules from the archives of Yarn's Plug'n'Play`,
    () =>
      'set `"type": "module"` in package.json, use Node.js 22 or later, or set `nodeLinker: node-modules` in `.yarnrc.yml`',
  ),
  SW9020: error(
    (p: { workflow: string; step: string; server: string; problem: string }) =>
      `step \`${p.step}\` of workflow \`${p.workflow}\` cannot go on: ${p.problem}`,
    (p) => `run \`stepwright pull ${p.server}\` and \`stepwright codegen\`, and correct the step`,
  ),
  SW9021: error(
    (p: { file: string; server: string }) =>
      `there is no snapshot \`${p.file}\` of the upstream server \`${p.server}\``,
    (p) => `run \`stepwright pull ${p.server}\` and commit the result`,
  ),
  SW9026: error(
    (p: { workflow: string; step: string; tool: string; hasSchema: boolean }) =>
      `step \`${p.step}\` of workflow \`${p.workflow}\` has no stub: ${p.hasSchema ? `no result can be made up from the output schema of \`${p.tool}\`` : `\`${p.tool}\` has no output schema, and another step reads its result`}`,
    (p) =>
      `write \`${p.step}: RESULT\` in a file, for all calls of the tool \`${p.tool}: RESULT\`, and name it with \`--stubs FILE\``,
  ),
  SW9027: error(
    (p: { name: string; problem: string }) => `the stub of \`${p.name}\` does not fit: ${p.problem}`,
  ),
  SW9028: error(
    (p: { name: string; workflow: string; candidates: readonly string[]; suggestion?: string | undefined }) =>
      `workflow \`${p.workflow}\` has no step that takes a stub, tool or resource \`${p.name}\`${
        p.suggestion !== undefined || p.candidates.length === 0
          ? ''
          : ` (known: ${p.candidates
              .slice(0, 12)
              .map((name) => `\`${name}\``)
              .join(', ')})`
      }`,
    nearest,
  ),
  SW9029: error(
    (p: { problem: string }) => p.problem,
    () =>
      'write an object: a result, `{ error: { code, message } }`, or a list with one of them for each call, by the id of a step or the name of a tool',
  ),
  SW9030: warning(
    (p: {
      step: string;
      tool: string;
      input: string;
      candidates: readonly string[];
      suggestion?: string | undefined;
    }) => `the schema of tool \`${p.tool}\` does not name the argument \`${p.input}\` of step \`${p.step}\``,
    (p) =>
      nearest(p) ?? `it names ${p.candidates.map((name) => `\`${name}\``).join(', ')}; remove \`${p.input}\``,
  ),
  SW9033: error(
    (p: { server: string; tool: string; problem: string; repair?: string | undefined }) =>
      `\`${p.tool}\` of the upstream server \`${p.server}\` is not called: ${p.problem}`,
    (p) => p.repair,
  ),
  SW9034: error(
    (p: { file: string; server: string; problem: string; again: string }) =>
      `the cassette \`${p.file}\` does not fit the upstream server \`${p.server}\`: ${p.problem}`,
    (p) => `run \`${p.again}\` and commit the result`,
  ),
} as const;
