import type { PlanningHints } from '../../../infer/tool.js';

/** Where workflows in YAML, JSON and XML are read from. */
export interface SpecSources {
  /** Files, or globs of files such as `workflows/**` + `/*.yaml`, relative to the root. Default: none. */
  readonly files?: readonly string[];
  /** Addresses. Each has to be allowed by `remote`. They are read when the server starts. Default: none. */
  readonly urls?: readonly string[];
}

/** The spec files of a server. */
export interface SpecSettings extends SpecSources {
  /** The folder that files are relative to; files outside of it are refused. Default: the working directory. */
  readonly root?: string;
  /** Whether files are read again when they change, also those of profiles. Default: true. */
  readonly watch?: boolean;
  /** What may be read from other hosts. Default: nothing. */
  readonly remote?: RemoteSpecs;
}

/** What a server may read from other hosts. */
export interface RemoteSpecs {
  /**
   * Origins with an optional path that addresses begin with: `https://team.example.com/workflows/`. `http:` is taken for
   * `localhost`, `127.0.0.1` and `[::1]` alone, for development.
   */
  readonly allow: readonly string[];
  /**
   * Networks that the hosts of `https:` addresses may be in beside the public internet: `10.20.0.0/16`. Default: none.
   */
  readonly allowAddresses?: readonly string[];
  /** Headers of requests by origin, such as `authorization`. A redirect to another origin does not get them. */
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** A catalogue of its own over HTTP, at the path of the server and the name of the profile: `/mcp/flights`. */
export interface Profile {
  /** Workflows beside those of the server. Default: none. */
  readonly specs?: SpecSources;
  /** Workflows that are described as resources, and not offered as tools or prompts. Default: none. */
  readonly resources?: SpecSources;
  /** Hints by tool. They win over the declared ones. Default: none. */
  readonly hints?: Readonly<Record<string, PlanningHints>>;
  /** The tools of the registry that clients get. Default: all. */
  readonly tools?: readonly string[];
  /** The workflows that clients get, those of `specs` among them. `[]`: none. Default: all. */
  readonly workflows?: readonly string[];
}

/** What clients of a view get beside the lists of the server. */
export interface ViewSelection {
  /** The name of a profile. Default: what all clients get. */
  readonly profile?: string;
  /** Hints by tool, not checked yet. */
  readonly hints?: unknown;
  /** The address of a file whose workflows are offered. */
  readonly workflowUrl?: string;
  /** The address of a file whose workflows are described as resources. */
  readonly resourcesUrl?: string;
  /** Equal for requests of one caller: addresses are read two at a time for each. Default: all are of one caller. */
  readonly caller?: string;
}
