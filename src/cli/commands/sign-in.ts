import { readUpstream } from '../../codegen/config.js';
import { readSourceIn } from '../../codegen/diagnostics.js';
import { defined } from '../../graph/defined.js';
import { formatDiagnostics } from '../../graph/diagnostics/format.js';
import { signIn } from '../../runtime/protocol/upstream/auth.js';
import { withEnvironment } from '../../runtime/upstream/config.js';
import { reasonOf, UpstreamError } from '../../runtime/upstream/port.js';
import { SignInFile } from '../../runtime/upstream/sign-in.js';
import { folderAt, Misuse, optionCommand, texts } from '../command-line.js';
import { checkPort } from './serve.js';

const OPTIONS = {
  root: { type: 'string' },
  config: { type: 'string' },
  scope: { type: 'string' },
  port: { type: 'string' },
  forget: { type: 'boolean' },
} as const;

/** How long a person has to sign in. */
const LIMIT_MS = 10 * 60_000;

/** `stepwright sign-in NAME`: gets tokens for an upstream server by a browser. */
export const signInCommand = optionCommand(
  'stepwright sign-in',
  `Usage: stepwright sign-in NAME [options]

Signs in at the upstream server NAME of the configuration, which has \`"auth": { "signIn": true }\`: prints an address to open
in a browser, and waits until it is done. The tokens are kept for this user, outside of the project, and are renewed by the
programs that use them.

Options:
  --scope SCOPES   scopes beside those that the server asks for, separated by spaces
  --port N         the port of this machine that the browser is sent to (default: that of the last sign-in, or any)
  --forget         remove the tokens
  --root DIR       the project's folder (default: the working directory)
  --config FILE    configuration, relative to the root (default: stepwright.config.json)
  --help           show this
`,
  OPTIONS,
  1,
  async ({ values, args: [name] }, output) => {
    const { root = '.', config, scope, port, forget = false } = values;
    if (name === undefined)
      throw new Misuse('stepwright: `stepwright sign-in` needs the name of an upstream server');
    checkPort(port);
    const project = folderAt(root);
    const configured = readUpstream({ root: project, ...defined({ configFile: config }) });
    if (configured.value === undefined) {
      output.err(formatDiagnostics(configured.diagnostics, readSourceIn(project), { color: output.color }));
      return 1;
    }
    const { servers } = configured.value;
    const named = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (named === undefined) throw new Misuse(texts.unknownServer(name, Object.keys(servers).sort()));
    try {
      const { server } = withEnvironment(name, named, process.env);
      if (!('url' in server))
        throw new UpstreamError(
          'E_UPSTREAM_CONFIG',
          `The upstream server '${name}' is not reached over HTTP, and needs no sign-in`,
        );
      const file = new SignInFile(server.url);
      if (forget) {
        output.out(
          file.remove() ? `removed the sign-in at '${name}'\n` : `there is no sign-in at '${name}'\n`,
        );
        return 0;
      }
      const open = (url: URL): void => output.out(`Open this address in a browser:\n\n  ${url.href}\n\n`);
      await signIn({
        ...{ name, server, file, open, signal: AbortSignal.timeout(LIMIT_MS) },
        ...defined({ scope, port: port === undefined ? undefined : Number(port) }),
      });
      output.out(`signed in at '${name}'; the tokens are in ${file.path}\n`);
      return 0;
    } catch (error) {
      output.err(`stepwright: cannot sign in at '${name}': ${reasonOf(error)}\n`);
      return 1;
    }
  },
);
