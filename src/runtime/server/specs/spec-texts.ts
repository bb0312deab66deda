import { clip } from '../../../graph/printable-text.js';

/** What a server says about the files and addresses that its workflows come from. */
export const specTexts = {
  unusable: (what: string, report: string) => `The workflows of ${what} cannot be used:\n${report}`,
  clash: (faults: string) =>
    `The workflows that a client brings do not go with those of the server:\n${faults}`,
  kept: (what: string, report: string) =>
    `the workflows of ${what} have changed and cannot be used; those before the change stay:\n${report}`,
  loaded: (what: string, count: number) =>
    `the workflows of ${what} have changed: ${count} ${count === 1 ? 'workflow is' : 'workflows are'} of files and addresses now`,
  // A log indents only lines that are not indented, which would part the bars from the numbers of their lines.
  warned: (report: string) => `warnings of workflow files:
${report.replaceAll(/^(?=.)/gm, '  ')}`,
  noMatch: (pattern: string, root: string) => `no file in ${root} matches ${clip(pattern)}`,
  notWatched: (why: string) => `workflow files are not watched: ${why}. Restart the server to read changes`,
  server: 'the server',
  profile: (name: string) => `the profile '${name}'`,
  header: (name: string) => `the header ${name}`,

  badProfileName: (name: string) =>
    `profiles: '${clip(name)}' is not a name of a profile: use 1 to 64 letters, digits, '_' and '-'`,
  unknownTool: (where: string, tool: string, nearest: string | undefined) =>
    `${where}: clients have no tool '${clip(tool)}'${nearest === undefined ? '' : `; did you mean '${nearest}'?`}`,
  unknownShown: (profile: string, name: string, nearest: string | undefined) =>
    `profiles.${profile}.workflows: there is no workflow '${clip(name)}'${nearest === undefined ? '' : `; did you mean '${nearest}'?`}`,
  unknownProfile: (name: string, nearest: string | undefined) =>
    `There is no profile '${clip(name)}' on this server${nearest === undefined ? '' : `; did you mean '${nearest}'?`}`,
  workflowsOff: 'Workflows are switched off on this server',

  outside: (root: string) => `it is not in the folder ${root}: move it there, or set specs.root`,

  notAllowedEntry: (entry: string) =>
    `specs.remote.allow lists '${clip(entry)}': write an origin with an optional path, such as 'https://team.example.com/workflows/', without user, '?', '#' or '*'`,
  insecureEntry: (entry: string) =>
    `specs.remote.allow lists '${clip(entry)}': use https; http is for localhost, 127.0.0.1 and [::1] alone`,
  unknownOption: (where: string, option: string, nearest: string | undefined, known: readonly string[]) =>
    `${where} has no option '${clip(option)}'${nearest === undefined ? `; it has ${known.join(', ')}` : `; did you mean '${nearest}'?`}`,
  notList: (option: string) => `${option} must be a list of texts`,
  badNetwork: (entry: string) =>
    `specs.remote.allowAddresses lists '${clip(entry)}', which is not a network such as '10.20.0.0/16'`,
  badHeaderOrigin: (origin: string) =>
    `specs.remote.headers has '${clip(origin)}', which is not the origin of an entry of specs.remote.allow`,
  badHeader: (origin: string, name: string) =>
    `specs.remote.headers of ${origin}: '${clip(name)}' is not a header with a value of text`,

  remoteOff: (url: string) =>
    `${clip(url)} is not read: this server reads nothing from other hosts. Its operator may allow it with specs.remote.allow`,
  notAllowed: (url: string) =>
    `${clip(url)} is not read: it is not among the addresses that this server allows. Its operator may add it to specs.remote.allow`,
  notUrl: (text: string) => `'${clip(text)}' is not an https address`,
  withUser: (url: string) =>
    `${clip(url)} is not read: it has a user or a password before the host. Leave them out; the operator of the server may send them with specs.remote.headers`,
  encodedSlash: (url: string) =>
    `${clip(url)} is not read: its path has an encoded '/' or '\\'. Write the path as it is`,
  notFetched: (url: string) => `The workflows at ${clip(url)} cannot be read; the log of the server says why`,
  fetchLog: (url: string, why: string) => `the workflows at ${clip(url)} cannot be read: ${why}`,
  why: {
    notResolved: (host: string, code: string) => `the name ${host} is not resolved (${code})`,
    address: (host: string, address: string, range: string) =>
      `${host} has the address ${address}, which is ${range}; list its network in specs.remote.allowAddresses if it is meant`,
    notLoopback: (host: string, address: string) =>
      `${host} has the address ${address}: http is for loopback addresses alone`,
    redirects: (limit: number) => `it is redirected more than ${limit} times`,
    redirect: (to: string) =>
      `it is redirected to ${clip(to)}, which is not among the addresses of specs.remote.allow`,
    downgrade: (to: string) => `it is redirected from https to ${clip(to)}`,
    noLocation: (status: number) => `the status ${status} comes without an address`,
    status: (status: number) => `the server answers with the status ${status}`,
    type: (type: string, known: readonly string[]) =>
      `its content type is '${clip(type)}': use ${known.join(', ')}, or text/plain for a path that ends with .yaml, .yml, .json or .xml`,
    encoding: (encoding: string) => `its content is compressed (${clip(encoding)}): send it as it is`,
    tooLong: (limit: number) => `it has more than ${limit} bytes`,
    connect: (ms: number) => `there is no connection within ${ms} ms`,
    slow: (ms: number) => `it is not complete within ${ms} ms`,
    notUtf8: 'it is not UTF-8',
    failed: (message: string) => `the connection failed: ${message}`,
  },

  hints: {
    tooLong: (limit: number) => `it has more than ${limit} characters`,
    notAscii: 'it has characters beyond ASCII: send them as `base64url:` and the JSON in base64url',
    notBase64: 'it is not base64url',
    notJson: (why: string) => `it is not JSON: ${why}`,
    notObject: 'it is not an object of hints by tool: {"search": {"next": ["book"]}}',
    entry: (tool: string) => `'${clip(tool)}' is not an object of hints`,
    unknownKey: (tool: string, key: string, nearest: string | undefined) =>
      `'${tool}' has '${clip(key)}', which is not a hint${nearest === undefined ? '' : `; did you mean '${nearest}'?`}`,
    notText: (tool: string, key: string, limit: number) =>
      `'${key}' of '${tool}' must be a text of 1 to ${limit} printable characters`,
    notList: (tool: string, key: string, most: number, limit: number) =>
      `'${key}' of '${tool}' must be a list of at most ${most} texts of 1 to ${limit} printable characters`,
    notExamples: (tool: string, most: number) => `'examples' of '${tool}' must be a list of at most ${most}`,
    unknownTool: (tool: string, nearest: string | undefined) =>
      `clients have no tool '${clip(tool)}'${nearest === undefined ? '' : `; did you mean '${nearest}'?`}`,
  },
  badHints: (where: string, problems: readonly string[]) => `${where}: ${problems.join('; ')}`,

  headerIgnored: (name: string, option: string) =>
    `a client sends the header ${name}, which is ignored: set headers.${option} to take it. This is not logged again`,
  headerForbidden: (name: string) => `This caller may not use the header ${name} of this server`,
  badRule: (option: string) => `headers.${option} must be a function from a caller to true or false`,
} as const;
