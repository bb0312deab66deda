import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type ExtractorMessage,
  type IConfigFile,
} from '@microsoft/api-extractor';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Where the reports are committed. */
export const REPORTS = join(ROOT, 'api');

/** The package's entry points: name of the report, and the declaration file. */
export const ENTRY_POINTS: Readonly<Record<string, string>> = {
  stepwright: 'index.d.ts',
  runtime: 'runtime/index.d.ts',
  builder: 'formats/builder/index.d.ts',
  formats: 'formats/index.d.ts',
  codegen: 'codegen/index.d.ts',
  vite: 'bundlers/vite.d.ts',
  esbuild: 'bundlers/esbuild.d.ts',
  eslint: 'eslint/index.d.ts',
  opentelemetry: 'opentelemetry/index.d.ts',
  temporal: 'temporal/index.d.ts',
  testing: 'testing/index.d.ts',
};

/**
 * Emits the declarations of the package into a new folder of the repository, so that their imports are resolved. In
 * `node_modules` they would be another package to the extractor.
 *
 * @throws if the sources have type errors.
 */
export function emitDeclarations(): string {
  const parent = join(ROOT, 'test/.tmp');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'declarations-'));
  const tsc = join(ROOT, 'node_modules/typescript-7/bin/tsc');
  const options = ['--emitDeclarationOnly', '--declarationMap', 'false', '--outDir', folder];
  execFileSync(process.execPath, [tsc, '-p', join(ROOT, 'tsconfig.build.json'), ...options], {
    stdio: 'pipe',
  });
  return folder;
}

/** Writes one report for each entry point, `<name>.api.md`, into a folder that exists. */
export function writeReports(declarations: string, reports: string): void {
  const configs = Object.entries(ENTRY_POINTS).map(([name, file]) =>
    ExtractorConfig.prepare({
      configObject: configuration(declarations, reports, name, file),
      configObjectFullPath: undefined,
      packageJsonFullPath: join(ROOT, 'package.json'),
    }),
  );
  const [first, ...others] = configs;
  if (first === undefined) return;
  const compilerState = CompilerState.create(first, {
    additionalEntryPoints: others.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath),
  });
  for (const config of configs) {
    const messageCallback = (message: ExtractorMessage): void => {
      // Only errors are printed, since reports are expected to change.
      if (message.logLevel !== 'error') message.handled = true;
    };
    const { errorCount } = Extractor.invoke(config, { localBuild: true, compilerState, messageCallback });
    if (errorCount > 0)
      throw new Error(`No report of ${config.mainEntryPointFilePath}: see the messages above`);
  }
}

function configuration(declarations: string, reports: string, name: string, file: string): IConfigFile {
  return {
    projectFolder: ROOT,
    mainEntryPointFilePath: join(declarations, file),
    compiler: {
      overrideTsconfig: {
        compilerOptions: {
          ...{ target: 'ES2022', module: 'NodeNext', moduleResolution: 'NodeNext', lib: ['ES2023'] },
          ...{ types: ['node'], strict: true, skipLibCheck: true },
        },
        files: Object.values(ENTRY_POINTS).map((entry) => join(declarations, entry)),
      },
    },
    apiReport: {
      ...{ enabled: true, reportFileName: `${name}.api.md` },
      ...{ reportFolder: reports, reportTempFolder: join(declarations, 'reports') },
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    newlineKind: 'lf',
    messages: {
      compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
      extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
    },
  };
}
