/** Every text of the command line, in one place. */
export const texts = {
  help: `Usage: stepwright <command> [options]

Commands:
  codegen     read the workflows, check them, and write the registries

Options:
  --help      show this, or the help of a command
  --version   show the version
`,
  codegenHelp: `Usage: stepwright codegen [options]

Reads the project's workflows, checks them, and writes its registries. With any error nothing is written.

Options:
  --check          write nothing; fail when a registry is stale or missing
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --help           show this
`,
  unknownCommand: (command: string, suggestion: string | undefined) =>
    `stepwright: there is no command \`${command}\`${didYouMean(suggestion)}; \`stepwright --help\` lists all`,
  unknownOption: (command: string, option: string, suggestion: string | undefined) =>
    `stepwright: \`${command}\` has no option \`${option}\`${didYouMean(suggestion)}; \`${command} --help\` lists all`,
  missingValue: (command: string, option: string) =>
    `stepwright: option \`${option}\` of \`${command}\` needs a value`,
  needlessValue: (command: string, option: string) =>
    `stepwright: option \`${option}\` of \`${command}\` takes no value`,
  needlessArgument: (command: string, argument: string) =>
    `stepwright: \`${command}\` takes no argument, and was given \`${argument}\``,
  noFolder: (folder: string) => `stepwright: there is no folder \`${folder}\``,
  written: (file: string) => `wrote ${file}`,
  current: (file: string) => `${file} is current`,
} as const;

function didYouMean(suggestion: string | undefined): string {
  return suggestion === undefined ? '' : ` (did you mean \`${suggestion}\`?)`;
}
