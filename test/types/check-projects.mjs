// Checks projects with one compiler in one process: what they share is parsed and bound once.
// Arguments: the package of the compiler; the projects as JSON, each `{ config: FILE, out?: FOLDER }`.
// Prints JSON: the version, and for each project what `tsc --pretty false` prints.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

const [compiler, projects] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(compiler);

const parsed = new Map();
const formats = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => process.cwd(),
  getNewLine: () => '\n',
};

function check({ config, out }) {
  const { config: json } = ts.readConfigFile(config, ts.sys.readFile);
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(
    json,
    ts.sys,
    dirname(config),
    out === undefined ? {} : { outDir: out },
    config,
  );
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile;
  host.getSourceFile = (name, ...rest) => {
    if (!parsed.has(name)) parsed.set(name, parse(name, ...rest));
    return parsed.get(name);
  };
  const program = ts.createProgram({
    rootNames: fileNames,
    options,
    host,
    configFileParsingDiagnostics: errors,
  });
  const found = ts.getPreEmitDiagnostics(program);
  const { diagnostics } = program.emit();
  return ts.formatDiagnostics(ts.sortAndDeduplicateDiagnostics([...found, ...diagnostics]), formats);
}

process.stdout.write(JSON.stringify({ version: ts.version, outputs: JSON.parse(projects).map(check) }));
