import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CONFIG_FILE, configFileOf, PACKAGE_FILE } from '../../../codegen/config-file.js';
import { parseJsonDocument } from '../../../formats/text/json-document.js';
import { lineStartsOf } from '../../../formats/text/located.js';
import { isJsonObject } from '../../../graph/json.js';
import { type UpstreamConfig, upstreamSchemas } from '../../../runtime/upstream/config.js';
import { Misuse, wordsOf } from '../../command-line.js';

interface OwnServerRequest {
  readonly root: string;
  readonly configFile?: string;
  /** A module of the project, or a command. */
  readonly server: string;
  /** Default: the name of the package. */
  readonly name?: string;
  /** Those of the configuration. */
  readonly servers: UpstreamConfig;
}

/** The server of the project itself, as an entry of the configuration. */
export interface OwnServer {
  readonly name: string;
  /** The entry. Empty where the configuration has it. */
  readonly servers: UpstreamConfig;
  readonly file: string;
  /** The configuration with the entry. Missing where it has it. */
  readonly text?: string;
}

/**
 * Makes an entry of the configuration for the server of the project.
 *
 * @throws Misuse for one that cannot be added.
 */
export function ownServer(request: OwnServerRequest): OwnServer {
  const { root, server, servers, configFile, name = packageName(root) } = request;
  const file = configFile ?? configFileOf(root) ?? CONFIG_FILE;
  const entry = entryOf(root, server);
  const line = `"${name}": ${JSON.stringify(entry)}`;
  const parsed = upstreamSchemas().upstream.safeParse({ [name]: entry });
  if (!parsed.success)
    throw new Misuse(
      `stepwright: '${name}' is not the name of an upstream server: write \`stepwright pull NAME --self '${server}'\` with at most 32 of a-z, 0-9, _ and -`,
    );
  const other = Object.hasOwn(servers, name) ? servers[name] : undefined;
  const isSame = Object.entries(entry).every(
    ([key, value]) => JSON.stringify(other && Reflect.get(other, key)) === JSON.stringify(value),
  );
  if (isSame) return { name, servers: {}, file };
  if (other !== undefined)
    throw new Misuse(
      `stepwright: ${file} has another upstream server '${name}': write \`stepwright pull NAME --self '${server}'\` with another name, or ${line} in place of it`,
    );
  if (file === PACKAGE_FILE)
    throw new Misuse(
      `stepwright: the configuration is in ${file}: add ${line} to its \`upstream\`, then run \`stepwright pull ${name}\``,
    );
  const location = path.join(root, file);
  const text = existsSync(location) ? readFileSync(location, 'utf8').replace(/^\ufeff/, '') : NEW_CONFIG;
  return { name, servers: parsed.data, file, text: withServer(file, text, line) };
}

/** Workflows over the tools are classes: a configuration without `registries` may be one of YAML only. */
const NEW_CONFIG = `{
  "$schema": "./node_modules/stepwright/config.schema.json",
  "registries": [{ "include": ["src/**/*.ts"], "out": "generated/registry.ts" }]
}
`;

/** What an author has typed: a module, or the words of a command. */
function entryOf(root: string, server: string): UpstreamConfig[string] {
  if (/^\S+\.[cm]?[jt]s$/.test(server)) {
    if (existsSync(path.resolve(root, server))) return { module: server };
    throw new Misuse(`stepwright: there is no file \`${server}\` in the project, for \`--self\``);
  }
  const [command, ...args] = wordsOf(server) ?? [];
  if (!command)
    throw new Misuse(
      "stepwright: `--self` needs a module that exports the server, or a command with every quote closed: `--self 'node dist/server.js'`",
    );
  return args.length === 0 ? { command } : { command, args };
}

/** The text of a configuration with a further server. All else stays as it is, with its comments. */
function withServer(file: string, text: string, line: string): string {
  const document = parseJsonDocument(file, text);
  const { upstream } = isJsonObject(document.value) ? document.value : {};
  const around = upstream === undefined ? document.value : upstream;
  const [row, column] = document.placeOf(upstream === undefined ? '' : '/upstream').span;
  const start = (lineStartsOf(text)[row - 1] ?? 0) + column;
  const isFirst = !isJsonObject(around) || Object.keys(around).length === 0;
  const indent = upstream === undefined ? '  ' : '    ';
  const member = upstream === undefined ? `"upstream": {\n    ${line}\n  }` : line;
  const rest = text.slice(start);
  const end = isFirst ? (rest.startsWith('}') ? `\n${indent.slice(2)}` : '') : ',';
  return `${text.slice(0, start)}\n${indent}${member}${end}${rest}`;
}

function packageName(root: string): string {
  const location = path.join(root, PACKAGE_FILE);
  const text = existsSync(location) ? readFileSync(location, 'utf8') : '{}';
  const { value } = parseJsonDocument(PACKAGE_FILE, text);
  const name = isJsonObject(value) && typeof value.name === 'string' ? value.name : 'server';
  return name
    .replace(/^.*\//, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '-')
    .slice(0, 32);
}
