// Written by `stepwright pull filesystem`: run it again instead of editing this file.
import { Tool, type ToolContext } from 'stepwright';

export interface FilesystemCreateDirectoryInput {
  readonly path: string;
}

export interface FilesystemCreateDirectoryOutput {
  readonly content: string;
}

/** Create a new directory or ensure a directory exists. Can create multiple nested directories in one operation. If the directory already exists, this operation will succeed silently. Perfect for setting up directory structures for projects or ensuring required paths exist. Only works within allowed directories. */
@Tool({
  name: 'filesystem_create_directory',
  title: 'Create Directory',
  description: 'Create a new directory or ensure a directory exists. Can create multiple nested directories in one operation. If the directory already exists, this operation will succeed silently. Perfect for setting up directory structures for projects or ensuring required paths exist. Only works within allowed directories.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { path: { type: 'string' } },
    required: ['path'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'create_directory' },
})
export class FilesystemCreateDirectory {
  execute(input: FilesystemCreateDirectoryInput, context: ToolContext): Promise<FilesystemCreateDirectoryOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemDirectoryTreeInput {
  readonly excludePatterns?: readonly string[];
  readonly path: string;
}

export interface FilesystemDirectoryTreeOutput {
  readonly content: string;
}

/** Get a recursive tree view of files and directories as a JSON structure. Each entry includes 'name', 'type' (file/directory), and 'children' for directories. Files have no children array, while directories always have a children array (which may be empty). The output is formatted with 2-space indentation for readability. Only works within allowed directories. */
@Tool({
  name: 'filesystem_directory_tree',
  title: 'Directory Tree',
  description: "Get a recursive tree view of files and directories as a JSON structure. Each entry includes 'name', 'type' (file/directory), and 'children' for directories. Files have no children array, while directories always have a children array (which may be empty). The output is formatted with 2-space indentation for readability. Only works within allowed directories.",
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      excludePatterns: { default: [], items: { type: 'string' }, type: 'array' },
      path: { type: 'string' },
    },
    required: ['path'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'directory_tree' },
})
export class FilesystemDirectoryTree {
  execute(input: FilesystemDirectoryTreeInput, context: ToolContext): Promise<FilesystemDirectoryTreeOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemEditFileInput {
  /** Preview changes using git-style diff format */
  readonly dryRun?: boolean;
  readonly edits: readonly {
    /** Text to replace with */
    readonly newText: string;
    /** Text to search for - must match exactly */
    readonly oldText: string;
  }[];
  readonly path: string;
}

export interface FilesystemEditFileOutput {
  readonly content: string;
}

/** Make line-based edits to a text file. Each edit replaces exact line sequences with new content. Returns a git-style diff showing the changes made. Only works within allowed directories. */
@Tool({
  name: 'filesystem_edit_file',
  title: 'Edit File',
  description: 'Make line-based edits to a text file. Each edit replaces exact line sequences with new content. Returns a git-style diff showing the changes made. Only works within allowed directories.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      dryRun: { default: false, description: 'Preview changes using git-style diff format', type: 'boolean' },
      edits: {
        items: {
          properties: {
            newText: { description: 'Text to replace with', type: 'string' },
            oldText: { description: 'Text to search for - must match exactly', type: 'string' },
          },
          required: ['oldText', 'newText'],
          type: 'object',
        },
        type: 'array',
      },
      path: { type: 'string' },
    },
    required: ['path', 'edits'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'edit_file' },
})
export class FilesystemEditFile {
  execute(input: FilesystemEditFileInput, context: ToolContext): Promise<FilesystemEditFileOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemGetFileInfoInput {
  readonly path: string;
}

export interface FilesystemGetFileInfoOutput {
  readonly content: string;
}

/** Retrieve detailed metadata about a file or directory. Returns comprehensive information including size, creation time, last modified time, permissions, and type. This tool is perfect for understanding file characteristics without reading the actual content. Only works within allowed directories. */
@Tool({
  name: 'filesystem_get_file_info',
  title: 'Get File Info',
  description: 'Retrieve detailed metadata about a file or directory. Returns comprehensive information including size, creation time, last modified time, permissions, and type. This tool is perfect for understanding file characteristics without reading the actual content. Only works within allowed directories.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { path: { type: 'string' } },
    required: ['path'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'get_file_info' },
})
export class FilesystemGetFileInfo {
  execute(input: FilesystemGetFileInfoInput, context: ToolContext): Promise<FilesystemGetFileInfoOutput> {
    return context.callUpstream(input);
  }
}

export type FilesystemListAllowedDirectoriesInput = { readonly [key: string]: unknown };

export interface FilesystemListAllowedDirectoriesOutput {
  readonly content: string;
}

/** Returns the list of directories that this server is allowed to access. Subdirectories within these allowed directories are also accessible. Use this to understand which directories and their nested paths are available before trying to access files. */
@Tool({
  name: 'filesystem_list_allowed_directories',
  title: 'List Allowed Directories',
  description: 'Returns the list of directories that this server is allowed to access. Subdirectories within these allowed directories are also accessible. Use this to understand which directories and their nested paths are available before trying to access files.',
  inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', properties: {}, type: 'object' },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'list_allowed_directories' },
})
export class FilesystemListAllowedDirectories {
  execute(input: FilesystemListAllowedDirectoriesInput, context: ToolContext): Promise<FilesystemListAllowedDirectoriesOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemListDirectoryInput {
  readonly path: string;
}

export interface FilesystemListDirectoryOutput {
  readonly content: string;
}

/** Get a detailed listing of all files and directories in a specified path. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is essential for understanding directory structure and finding specific files within a directory. Only works within allowed directories. */
@Tool({
  name: 'filesystem_list_directory',
  title: 'List Directory',
  description: 'Get a detailed listing of all files and directories in a specified path. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is essential for understanding directory structure and finding specific files within a directory. Only works within allowed directories.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { path: { type: 'string' } },
    required: ['path'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'list_directory' },
})
export class FilesystemListDirectory {
  execute(input: FilesystemListDirectoryInput, context: ToolContext): Promise<FilesystemListDirectoryOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemListDirectoryWithSizesInput {
  readonly path: string;
  /** Sort entries by name or size */
  readonly sortBy?: 'name' | 'size';
}

export interface FilesystemListDirectoryWithSizesOutput {
  readonly content: string;
}

/** Get a detailed listing of all files and directories in a specified path, including sizes. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is useful for understanding directory structure and finding specific files within a directory. Only works within allowed directories. */
@Tool({
  name: 'filesystem_list_directory_with_sizes',
  title: 'List Directory with Sizes',
  description: 'Get a detailed listing of all files and directories in a specified path, including sizes. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is useful for understanding directory structure and finding specific files within a directory. Only works within allowed directories.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      path: { type: 'string' },
      sortBy: {
        default: 'name',
        description: 'Sort entries by name or size',
        enum: ['name', 'size'],
        type: 'string',
      },
    },
    required: ['path'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'list_directory_with_sizes' },
})
export class FilesystemListDirectoryWithSizes {
  execute(input: FilesystemListDirectoryWithSizesInput, context: ToolContext): Promise<FilesystemListDirectoryWithSizesOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemMoveFileInput {
  readonly destination: string;
  readonly source: string;
}

export interface FilesystemMoveFileOutput {
  readonly content: string;
}

/** Move or rename files and directories. Can move files between directories and rename them in a single operation. If the destination exists, the operation will fail. Works across different directories and can be used for simple renaming within the same directory. Both source and destination must be within allowed directories. */
@Tool({
  name: 'filesystem_move_file',
  title: 'Move File',
  description: 'Move or rename files and directories. Can move files between directories and rename them in a single operation. If the destination exists, the operation will fail. Works across different directories and can be used for simple renaming within the same directory. Both source and destination must be within allowed directories.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { destination: { type: 'string' }, source: { type: 'string' } },
    required: ['source', 'destination'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'move_file' },
})
export class FilesystemMoveFile {
  execute(input: FilesystemMoveFileInput, context: ToolContext): Promise<FilesystemMoveFileOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemReadFileInput {
  /** If provided, returns only the first N lines of the file */
  readonly head?: number;
  readonly path: string;
  /** If provided, returns only the last N lines of the file */
  readonly tail?: number;
}

export interface FilesystemReadFileOutput {
  readonly content: string;
}

/** Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead. */
@Tool({
  name: 'filesystem_read_file',
  title: 'Read File (Deprecated)',
  description: 'Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      head: { description: 'If provided, returns only the first N lines of the file', type: 'number' },
      path: { type: 'string' },
      tail: { description: 'If provided, returns only the last N lines of the file', type: 'number' },
    },
    required: ['path'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'read_file' },
})
export class FilesystemReadFile {
  execute(input: FilesystemReadFileInput, context: ToolContext): Promise<FilesystemReadFileOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemReadMediaFileInput {
  readonly path: string;
}

export interface FilesystemReadMediaFileOutput {
  readonly content: readonly ({
    readonly data: string;
    readonly mimeType: string;
    readonly type: 'image' | 'audio';
  } | {
    readonly resource: {
      readonly blob: string;
      readonly mimeType?: string;
      readonly uri: string;
    };
    readonly type: 'resource';
  })[];
}

/** Read a file and return it as a base64-encoded content block with its MIME type. Image and audio files are returned as image/audio content; any other file type is returned as an embedded resource. Only works within allowed directories. */
@Tool({
  name: 'filesystem_read_media_file',
  title: 'Read Media File',
  description: 'Read a file and return it as a base64-encoded content block with its MIME type. Image and audio files are returned as image/audio content; any other file type is returned as an embedded resource. Only works within allowed directories.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { path: { type: 'string' } },
    required: ['path'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: {
      content: {
        items: {
          anyOf: [
            {
              additionalProperties: false,
              properties: {
                data: { type: 'string' },
                mimeType: { type: 'string' },
                type: { enum: ['image', 'audio'], type: 'string' },
              },
              required: ['type', 'data', 'mimeType'],
              type: 'object',
            },
            {
              additionalProperties: false,
              properties: {
                resource: {
                  additionalProperties: false,
                  properties: {
                    blob: { type: 'string' },
                    mimeType: { type: 'string' },
                    uri: { type: 'string' },
                  },
                  required: ['uri', 'blob'],
                  type: 'object',
                },
                type: { const: 'resource', type: 'string' },
              },
              required: ['type', 'resource'],
              type: 'object',
            },
          ],
        },
        type: 'array',
      },
    },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'read_media_file' },
})
export class FilesystemReadMediaFile {
  execute(input: FilesystemReadMediaFileInput, context: ToolContext): Promise<FilesystemReadMediaFileOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemReadMultipleFilesInput {
  /** Array of file paths to read. Each path must be a string pointing to a valid file within allowed directories. */
  readonly paths: readonly string[];
}

export interface FilesystemReadMultipleFilesOutput {
  readonly content: string;
}

/** Read the contents of multiple files simultaneously. This is more efficient than reading files one by one when you need to analyze or compare multiple files. Each file's content is returned with its path as a reference. Failed reads for individual files won't stop the entire operation. Only works within allowed directories. */
@Tool({
  name: 'filesystem_read_multiple_files',
  title: 'Read Multiple Files',
  description: "Read the contents of multiple files simultaneously. This is more efficient than reading files one by one when you need to analyze or compare multiple files. Each file's content is returned with its path as a reference. Failed reads for individual files won't stop the entire operation. Only works within allowed directories.",
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      paths: {
        description: 'Array of file paths to read. Each path must be a string pointing to a valid file within allowed directories.',
        items: { type: 'string' },
        minItems: 1,
        type: 'array',
      },
    },
    required: ['paths'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'read_multiple_files' },
})
export class FilesystemReadMultipleFiles {
  execute(input: FilesystemReadMultipleFilesInput, context: ToolContext): Promise<FilesystemReadMultipleFilesOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemReadTextFileInput {
  /** If provided, returns only the first N lines of the file */
  readonly head?: number;
  readonly path: string;
  /** If provided, returns only the last N lines of the file */
  readonly tail?: number;
}

export interface FilesystemReadTextFileOutput {
  readonly content: string;
}

/** Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be read. Use this tool when you need to examine the contents of a single file. Use the 'head' parameter to read only the first N lines of a file, or the 'tail' parameter to read only the last N lines of a file. Operates on the file as text regardless of extension. Only works within allowed directories. */
@Tool({
  name: 'filesystem_read_text_file',
  title: 'Read Text File',
  description: "Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be read. Use this tool when you need to examine the contents of a single file. Use the 'head' parameter to read only the first N lines of a file, or the 'tail' parameter to read only the last N lines of a file. Operates on the file as text regardless of extension. Only works within allowed directories.",
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      head: { description: 'If provided, returns only the first N lines of the file', type: 'number' },
      path: { type: 'string' },
      tail: { description: 'If provided, returns only the last N lines of the file', type: 'number' },
    },
    required: ['path'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'read_text_file' },
})
export class FilesystemReadTextFile {
  execute(input: FilesystemReadTextFileInput, context: ToolContext): Promise<FilesystemReadTextFileOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemSearchFilesInput {
  readonly excludePatterns?: readonly string[];
  readonly path: string;
  readonly pattern: string;
}

export interface FilesystemSearchFilesOutput {
  readonly content: string;
}

/** Recursively search for files and directories matching a pattern. The patterns should be glob-style patterns that match paths relative to the working directory. Use pattern like '*.ext' to match files in current directory, and '**\/*.ext' to match files in all subdirectories. Returns full paths to all matching items. Great for finding files when you don't know their exact location. Only searches within allowed directories. */
@Tool({
  name: 'filesystem_search_files',
  title: 'Search Files',
  description: "Recursively search for files and directories matching a pattern. The patterns should be glob-style patterns that match paths relative to the working directory. Use pattern like '*.ext' to match files in current directory, and '**/*.ext' to match files in all subdirectories. Returns full paths to all matching items. Great for finding files when you don't know their exact location. Only searches within allowed directories.",
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      excludePatterns: { default: [], items: { type: 'string' }, type: 'array' },
      path: { type: 'string' },
      pattern: { type: 'string' },
    },
    required: ['path', 'pattern'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'search_files' },
})
export class FilesystemSearchFiles {
  execute(input: FilesystemSearchFilesInput, context: ToolContext): Promise<FilesystemSearchFilesOutput> {
    return context.callUpstream(input);
  }
}

export interface FilesystemWriteFileInput {
  readonly content: string;
  readonly path: string;
}

export interface FilesystemWriteFileOutput {
  readonly content: string;
}

/** Create a new file or completely overwrite an existing file with new content. Use with caution as it will overwrite existing files without warning. Handles text content with proper encoding. Only works within allowed directories. */
@Tool({
  name: 'filesystem_write_file',
  title: 'Write File',
  description: 'Create a new file or completely overwrite an existing file with new content. Use with caution as it will overwrite existing files without warning. Handles text content with proper encoding. Only works within allowed directories.',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { content: { type: 'string' }, path: { type: 'string' } },
    required: ['path', 'content'],
    type: 'object',
  },
  outputSchema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    additionalProperties: false,
    properties: { content: { type: 'string' } },
    required: ['content'],
    type: 'object',
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  visibility: 'workflow',
  upstream: { server: 'filesystem', tool: 'write_file' },
})
export class FilesystemWriteFile {
  execute(input: FilesystemWriteFileInput, context: ToolContext): Promise<FilesystemWriteFileOutput> {
    return context.callUpstream(input);
  }
}
