import { z } from 'zod';
import type { Json } from '../../graph/json.js';
import { MAX_DURATION_MS } from '../../graph/limits.js';
import { Mask } from '../secrets/mask.js';
import { UpstreamError } from './port.js';

/** What names of upstream servers match: they begin the names of classes and tools. */
const SERVER_NAME = /^[a-z][a-z0-9_-]{0,31}$/;

/** What `${NAME}` names. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Shorter values protect little, and are parts of ordinary texts. */
const SHORTEST_SECRET = 8;

const SECRETS = `\`\${NAME}\` is replaced by the environment variable NAME.`;

let schemas: Schemas | undefined;

/**
 * The parts of the configuration that name upstream servers (`upstream`) and REST services (`rest`). They are made on
 * first use, which takes a twentieth of the start of a server: most have neither.
 */
export function upstreamSchemas(): Schemas {
  schemas ??= makeSchemas();
  return schemas;
}

type Schemas = ReturnType<typeof makeSchemas>;

function makeSchemas() {
  const texts = z.record(z.string(), z.string());

  const names = z.array(z.string().min(1));

  /** What a planning model gets to know about an upstream tool, as the hints of `@Tool`. */
  const hintsSchema = z.strictObject({
    category: z
      .string()
      .min(1)
      .exactOptional()
      .describe('The kind of work, such as `search`, `validation`, `action` or `payment`.'),
    next: names
      .exactOptional()
      .describe(
        'Tools that may follow it, by the names of the server or of the registry. Two or more are alternatives.',
      ),
    requires: names.exactOptional().describe('Tools that have to be called before it, all of them.'),
    outputs: names.exactOptional().describe('Fields of its result, for a tool without an output schema.'),
    hint: z.string().min(1).exactOptional().describe('A sentence of advice.'),
    examples: z.array(z.json()).exactOptional().describe('Inputs, or questions that it answers.'),
  });

  /** The options of the hints of a tool. */
  const hintSettings: readonly string[] = Object.keys(hintsSchema.shape);

  /** Settings of every upstream server. */
  const common = {
    timeoutMs: z
      .number()
      .int()
      .positive()
      .max(MAX_DURATION_MS)
      .exactOptional()
      .describe(
        'How long a call waits for a connection, and how long it may take then, in ms. Default: the limit of the step.',
      ),
    tools: z
      .strictObject({
        exclude: z
          .array(z.string().min(1))
          .exactOptional()
          .describe('Tools that are left out, by the names that the server gives them.'),
      })
      .exactOptional()
      .describe('Which of its tools are used. Default: all.'),
    out: z
      .string()
      .regex(/\.m?ts$/, 'must end in .ts or .mts')
      .exactOptional()
      .describe('The file of the classes. The snapshot is beside it. Default: `src/upstream/NAME.ts`.'),
    visibility: z
      .enum(['client', 'workflow'])
      .exactOptional()
      .describe('Who may call the tools: steps of workflows, or clients as well. Default: `workflow`.'),
    hints: z
      .record(z.string().min(1), hintsSchema)
      .exactOptional()
      .describe('Hints of its tools for models that plan, by the name that the server gives a tool.'),
    plain: z
      .array(z.string().regex(VARIABLE_NAME, 'is not the name of a variable'))
      .exactOptional()
      .describe('Environment variables whose values are no secrets, and are shown in logs and failures.'),
    record: z
      .record(z.string().min(1), z.array(z.record(z.string(), z.unknown())).min(1))
      .exactOptional()
      .describe(
        'Calls whose answers `stepwright pull --record` records for tests: inputs, by the name that the server gives a tool.',
      ),
  };

  const stdioSchema = z.strictObject({
    command: z.string().min(1).describe('The program of a server over stdio.'),
    args: z.array(z.string()).exactOptional().describe(`Its arguments. ${SECRETS}`),
    env: texts.exactOptional().describe(`Environment variables that it gets beside the usual. ${SECRETS}`),
    cwd: z.string().min(1).exactOptional().describe('Its working directory, relative to the project.'),
    ...common,
  });

  const scope = z.string().min(1).exactOptional();

  const dpop = z
    .boolean()
    .exactOptional()
    .describe('Whether tokens are bound to a key of this client (DPoP, RFC 9449). Default: false.');

  const identityProviderSchema = z.strictObject({
    tokenEndpoint: z
      .string()
      .min(1)
      .describe(`The address at which the identity provider exchanges tokens. ${SECRETS}`),
    clientId: z.string().min(1).describe(`Whom the identity provider knows. ${SECRETS}`),
    clientSecret: z.string().min(1).exactOptional().describe(`The secret of that client. ${SECRETS}`),
  });

  const identityProviderSettings: readonly string[] = Object.keys(identityProviderSchema.shape);

  const credentialsSchema = z
    .strictObject({
      issuer: z
        .string()
        .min(1)
        .describe(
          `The address of the authorization server. The credentials are sent to no other. ${SECRETS}`,
        ),
      clientId: z.string().min(1).describe(`Whom the authorization server knows. ${SECRETS}`),
      clientSecret: z.string().min(1).exactOptional().describe(`The secret of the client. ${SECRETS}`),
      privateKey: z
        .string()
        .min(1)
        .exactOptional()
        .describe(
          `In the place of a secret: the key that the client signs with, in PEM (RFC 7523). ${SECRETS}`,
        ),
      assertionFile: z
        .string()
        .min(1)
        .exactOptional()
        .describe(
          `A file with a token of the platform that the program runs on, which is exchanged for one of the authorization server (RFC 7523), relative to the project. ${SECRETS}`,
        ),
      identityProvider: identityProviderSchema
        .exactOptional()
        .describe(
          'Exchanges the token of `assertionFile`, an ID token, for one that the authorization server trusts.',
        ),
      scope: scope.describe(
        'Scopes to ask for, separated by spaces. Default: those that the client has at the authorization server.',
      ),
      dpop,
    })
    .refine(({ clientSecret, privateKey }) => clientSecret === undefined || privateKey === undefined, {
      error: 'has a `clientSecret` and a `privateKey`: leave out one of them',
    })
    .refine((auth) => auth.clientSecret ?? auth.privateKey ?? auth.assertionFile, {
      error: 'needs a `clientSecret`, a `privateKey` or an `assertionFile`',
    })
    .refine(({ identityProvider, assertionFile }) => identityProvider === undefined || assertionFile, {
      error: 'has an `identityProvider`: it needs the `assertionFile` with the ID token for it',
    });

  const signInSchema = z
    .strictObject({
      signIn: z.literal(true).describe('A person signs in by a browser, with `stepwright sign-in`.'),
      clientId: z
        .string()
        .min(1)
        .exactOptional()
        .describe(
          `The client that the authorization server knows, or the https address of its metadata document. Default: it is registered. ${SECRETS}`,
        ),
      clientSecret: z.string().min(1).exactOptional().describe(`The secret of the client. ${SECRETS}`),
      issuer: z
        .string()
        .min(1)
        .exactOptional()
        .describe(
          `The address of the authorization server. Default: the one that the server names. ${SECRETS}`,
        ),
      scope: scope.describe(
        'Scopes to ask for, separated by spaces. Default: those that the server asks for.',
      ),
      dpop,
    })
    .refine(
      ({ clientId, clientSecret, issuer }) =>
        clientSecret === undefined || (clientId !== undefined && issuer !== undefined),
      { error: 'has a `clientSecret`: it needs the `clientId` and the `issuer` that it is for' },
    );

  const authSettings: readonly string[] = [
    ...new Set([...Object.keys(credentialsSchema.shape), ...Object.keys(signInSchema.shape)]),
  ];

  const httpSchema = z
    .strictObject({
      url: z.string().min(1).describe(`The address of a server over streamable HTTP. ${SECRETS}`),
      headers: texts.exactOptional().describe(`Headers of every request. ${SECRETS}`),
      auth: z
        .union([credentialsSchema, signInSchema])
        .exactOptional()
        .describe(
          'Tokens of OAuth 2: by the grant for client credentials, or by the sign-in of a person with `"signIn": true`.',
        ),
      ...common,
    })
    .refine(({ auth, headers = {} }) => auth === undefined || !hasAuthorization(headers), {
      path: ['auth'],
      error: 'sets the header Authorization, which `headers` sets as well: leave out one of them',
    });

  const moduleSchema = z.strictObject({
    module: z
      .string()
      .min(1)
      .describe(
        'A module of the project, relative to it, that exports a server of the MCP SDK or of `fastmcp`, by default, as `server` or by the name of the upstream server. Its tools are called in this process.',
      ),
    ...common,
  });

  const upstream = z.record(
    z.string().regex(SERVER_NAME, 'a name is at most 32 of a-z, 0-9, _ and -, and begins with a letter'),
    z.union([stdioSchema, httpSchema, moduleSchema]),
  );

  const rest = z.record(
    z.string().min(1),
    z.strictObject({
      baseUrl: z.string().min(1).describe(`The address that paths are added to. ${SECRETS}`),
      headers: texts.exactOptional().describe(`Headers of every request. ${SECRETS}`),
    }),
  );

  /** The settings of a server of any kind. */
  const serverSettings: readonly string[] = [
    ...new Set([stdioSchema, httpSchema, moduleSchema].flatMap(({ shape }) => Object.keys(shape))),
  ];

  return {
    ...{ upstream, rest, stdioSchema, httpSchema, moduleSchema, credentialsSchema, signInSchema },
    ...{ hintSettings, identityProviderSettings, authSettings, serverSettings },
  };
}

function hasAuthorization(headers: Readonly<Record<string, string>>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

/** The settings that are allowed at a path, which begins with the name of a server. */
export function upstreamSettingsAt(path: readonly PropertyKey[]): readonly string[] {
  const { authSettings, identityProviderSettings, hintSettings, serverSettings } = upstreamSchemas();
  if (path[1] === 'auth') return path.length === 2 ? authSettings : identityProviderSettings;
  if (path[1] === 'tools') return ['exclude'];
  return path.length === 3 ? hintSettings : serverSettings;
}

/** A service with a REST interface, as in the configuration. */
export type RestService = z.input<Schemas['rest']>[string];

/** An upstream server that is started as a process. */
export type StdioUpstream = z.input<Schemas['stdioSchema']>;
/** An upstream server over streamable HTTP. */
export type HttpUpstream = z.input<Schemas['httpSchema']>;
/** An upstream server of this process. */
export type ModuleUpstream = z.input<Schemas['moduleSchema']>;
/** How a program gets tokens. */
export type ClientCredentials = z.input<Schemas['credentialsSchema']>;
export type SignIn = z.input<Schemas['signInSchema']>;
/** Upstream servers by name, as in the configuration. */
export type UpstreamConfig = z.input<Schemas['upstream']>;
export type UpstreamServer = UpstreamConfig[string];

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A server whose variables are filled in, with the values that must not be shown. */
export interface ResolvedServer {
  readonly server: UpstreamServer;
  readonly secrets: readonly string[];
}

/**
 * Fills in `${NAME}` in a text.
 *
 * @param missing gets the names of variables that are not set.
 * @param filled gets each variable that is set, with its value.
 */
export function filledIn(
  text: string,
  env: Environment,
  missing: Set<string>,
  filled: (variable: string, value: string) => void = () => {},
): string {
  return text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, variable: string) => {
    const value = env[variable];
    if (value === undefined) missing.add(variable);
    else filled(variable, value);
    return value ?? '';
  });
}

/** Masks the values of the variables that servers name. Variables that are not set are left out. */
export function secretMask(servers: UpstreamConfig, env: Environment): (value: Json) => Json {
  const mask = new Mask(Object.values(servers).flatMap((server) => filledServer(server, env).secrets));
  return (value) => mask.json(value);
}

/**
 * Fills in `${NAME}` in all texts of a server. Secret are the values in headers, and all others of at least 8
 * characters, unless `plain` names the variable.
 *
 * @throws UpstreamError (`E_UPSTREAM_CONFIG`) that names every missing variable, and every one of `plain` that no text
 *   names.
 */
export function withEnvironment(name: string, server: UpstreamServer, env: Environment): ResolvedServer {
  const { missing, needlessPlain, ...resolved } = filledServer(server, env);
  if (missing.length > 0)
    throw new UpstreamError(
      'E_UPSTREAM_CONFIG',
      `The upstream server '${name}' needs the environment ${missing.length === 1 ? 'variable' : 'variables'} ${missing.join(', ')}, which ${missing.length === 1 ? 'is' : 'are'} not set`,
    );
  if (needlessPlain.length > 0)
    throw new UpstreamError(
      'E_UPSTREAM_CONFIG',
      `'plain' of the upstream server '${name}' names ${needlessPlain.join(', ')}, which none of its texts has as \`\${NAME}\`: remove ${needlessPlain.length === 1 ? 'it' : 'them'}`,
    );
  return resolved;
}

function filledServer(
  server: UpstreamServer,
  env: Environment,
): ResolvedServer & { readonly missing: readonly string[]; readonly needlessPlain: readonly string[] } {
  const secrets = new Set<string>();
  const missing = new Set<string>();
  const unused = new Set(server.plain);
  const plain = new Set(server.plain);
  const filledWith = (shortest: number) => (text: string) =>
    filledIn(text, env, missing, (variable, value) => {
      unused.delete(variable);
      if (plain.has(variable)) return;
      // A server writes a value of several lines a line at a time.
      for (const secret of [value, ...value.split(/\r?\n/)])
        if (secret.length >= shortest) secrets.add(secret);
    });
  const filled = filledWith(SHORTEST_SECRET);
  const all = (values: Readonly<Record<string, string>> = {}, fill = filled): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fill(value)]));
  const resolved: UpstreamServer =
    'module' in server
      ? server
      : 'url' in server
        ? {
            ...server,
            url: filled(server.url),
            headers: all(server.headers, filledWith(1)),
            ...authOf(server, filled),
          }
        : {
            ...server,
            command: filled(server.command),
            args: (server.args ?? []).map(filled),
            env: all(server.env),
            ...(server.cwd === undefined ? {} : { cwd: filled(server.cwd) }),
          };
  // It is one wherever it is from.
  for (const secret of 'url' in resolved ? credentialsIn(resolved.auth) : []) secrets.add(secret);
  return {
    server: resolved,
    secrets: [...secrets],
    missing: [...missing],
    needlessPlain: [...unused],
  };
}

function authOf({ auth }: HttpUpstream, filled: (text: string) => string): Pick<HttpUpstream, 'auth'> {
  return auth === undefined ? {} : { auth: textsOf(auth, filled) };
}

function textsOf<T extends object>(settings: T, filled: (text: string) => string): T {
  const texts = Object.entries(settings).map(([key, value]) => {
    if (typeof value === 'object') return [key, textsOf(value, filled)];
    return [key, typeof value === 'string' && key !== 'scope' ? filled(value) : value];
  });
  return Object.fromEntries(texts);
}

/** The texts that identify a client. A key is shown a line at a time where it is shown at all. */
function credentialsIn(auth: HttpUpstream['auth']): readonly string[] {
  if (auth === undefined) return [];
  if ('signIn' in auth) return auth.clientSecret === undefined ? [] : [auth.clientSecret];
  const { clientSecret, privateKey = '', identityProvider } = auth;
  const lines = privateKey.split(/\r?\n/).filter((line) => line.length >= SHORTEST_SECRET);
  return [clientSecret, identityProvider?.clientSecret, ...lines].filter((secret) => secret !== undefined);
}
