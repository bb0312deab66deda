// Written by `stepwright codegen`: run it again instead of editing this file.
import type { ArgsOf, ResultOf } from 'stepwright';
import { defineRegistry, graphJson, schemaJson } from 'stepwright/runtime';
import { LearnNote } from '../learn-note.workflow.js';
import { FilesystemCreateDirectory, FilesystemDirectoryTree, FilesystemEditFile, FilesystemGetFileInfo, FilesystemListAllowedDirectories, FilesystemListDirectory, FilesystemListDirectoryWithSizes, FilesystemMoveFile, FilesystemReadFile, FilesystemReadMediaFile, FilesystemReadMultipleFiles, FilesystemReadTextFile, FilesystemSearchFiles, FilesystemWriteFile } from '../servers/filesystem.js';
import { MemoryAddObservations, MemoryCreateEntities, MemoryCreateRelations, MemoryDeleteEntities, MemoryDeleteObservations, MemoryDeleteRelations, MemoryOpenNodes, MemoryReadGraph, MemorySearchNodes } from '../servers/memory.js';

/** Everything a server offers. */
export const registry = defineRegistry({
  registryVersion: 1,
  checksum: '60afc379ef9e1c32dc9e674e291d61e0041eab1657b9c207cd58adf02a525880',
  tools: {
    filesystem_create_directory: {
      class: FilesystemCreateDirectory,
      title: 'Create Directory',
      description: 'Create a new directory or ensure a directory exists. Can create multiple nested directories in one operation. If the directory already exists, this operation will succeed silently. Perfect for setting up directory structures for projects or ensuring required paths exist. Only works within allowed directories.',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'create_directory' },
      fingerprint: '21872045a5ded054431b94d795d68c12e454afd1137ff9b1710eec1e60062f99',
    },
    filesystem_directory_tree: {
      class: FilesystemDirectoryTree,
      title: 'Directory Tree',
      description: "Get a recursive tree view of files and directories as a JSON structure. Each entry includes 'name', 'type' (file/directory), and 'children' for directories. Files have no children array, while directories always have a children array (which may be empty). The output is formatted with 2-space indentation for readability. Only works within allowed directories.",
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "excludePatterns": { "default": [], "items": { "type": "string" }, "type": "array" },
          "path": { "type": "string" }
        },
        "required": ["path"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'directory_tree' },
      fingerprint: '23e08213e18b170a155991c2d80fa36ea1b58871518df651630e3d10ea39059f',
    },
    filesystem_edit_file: {
      class: FilesystemEditFile,
      title: 'Edit File',
      description: 'Make line-based edits to a text file. Each edit replaces exact line sequences with new content. Returns a git-style diff showing the changes made. Only works within allowed directories.',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "dryRun": {
            "default": false,
            "description": "Preview changes using git-style diff format",
            "type": "boolean"
          },
          "edits": {
            "items": {
              "properties": {
                "newText": { "description": "Text to replace with", "type": "string" },
                "oldText": { "description": "Text to search for - must match exactly", "type": "string" }
              },
              "required": ["oldText", "newText"],
              "type": "object"
            },
            "type": "array"
          },
          "path": { "type": "string" }
        },
        "required": ["path", "edits"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'edit_file' },
      fingerprint: 'b8cf5d733c67d2eaba7596aefffa706db694306357c1096ae1a617852db4d01c',
    },
    filesystem_get_file_info: {
      class: FilesystemGetFileInfo,
      title: 'Get File Info',
      description: 'Retrieve detailed metadata about a file or directory. Returns comprehensive information including size, creation time, last modified time, permissions, and type. This tool is perfect for understanding file characteristics without reading the actual content. Only works within allowed directories.',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'get_file_info' },
      fingerprint: '766f44ce7c454499c15464c1e7300ec851d960ba4437ca6b97b08c23a9e9776e',
    },
    filesystem_list_allowed_directories: {
      class: FilesystemListAllowedDirectories,
      title: 'List Allowed Directories',
      description: 'Returns the list of directories that this server is allowed to access. Subdirectories within these allowed directories are also accessible. Use this to understand which directories and their nested paths are available before trying to access files.',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {},
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'list_allowed_directories' },
      fingerprint: '84f971cc21b6fd3dd80d40252ddd2d5de75fafddffa090efabedd3617990707c',
    },
    filesystem_list_directory: {
      class: FilesystemListDirectory,
      title: 'List Directory',
      description: 'Get a detailed listing of all files and directories in a specified path. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is essential for understanding directory structure and finding specific files within a directory. Only works within allowed directories.',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'list_directory' },
      fingerprint: 'a7c8f55966e248867c5c1efacbd368b8efe0e7bf7abc6aa32e406f60ca651d78',
    },
    filesystem_list_directory_with_sizes: {
      class: FilesystemListDirectoryWithSizes,
      title: 'List Directory with Sizes',
      description: 'Get a detailed listing of all files and directories in a specified path, including sizes. Results clearly distinguish between files and directories with [FILE] and [DIR] prefixes. This tool is useful for understanding directory structure and finding specific files within a directory. Only works within allowed directories.',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "path": { "type": "string" },
          "sortBy": {
            "default": "name",
            "description": "Sort entries by name or size",
            "enum": ["name", "size"],
            "type": "string"
          }
        },
        "required": ["path"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'list_directory_with_sizes' },
      fingerprint: '9d6efc5d2398c420200e383c541241f6016440c91a0d07bdfb568ae059cd75ce',
    },
    filesystem_move_file: {
      class: FilesystemMoveFile,
      title: 'Move File',
      description: 'Move or rename files and directories. Can move files between directories and rename them in a single operation. If the destination exists, the operation will fail. Works across different directories and can be used for simple renaming within the same directory. Both source and destination must be within allowed directories.',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": { "destination": { "type": "string" }, "source": { "type": "string" } },
        "required": ["source", "destination"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'move_file' },
      fingerprint: '9a7a76a84210d0b9485189ea4e37b449ac2438be937616a639b20ad66bb1553a',
    },
    filesystem_read_file: {
      class: FilesystemReadFile,
      title: 'Read File (Deprecated)',
      description: 'Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "head": {
            "description": "If provided, returns only the first N lines of the file",
            "type": "number"
          },
          "path": { "type": "string" },
          "tail": {
            "description": "If provided, returns only the last N lines of the file",
            "type": "number"
          }
        },
        "required": ["path"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'read_file' },
      fingerprint: '6a17abcb139f2857a6ad30922ade9395a9c5ae369e12bcfec0ab51dd1ae4f63e',
    },
    filesystem_read_media_file: {
      class: FilesystemReadMediaFile,
      title: 'Read Media File',
      description: 'Read a file and return it as a base64-encoded content block with its MIME type. Image and audio files are returned as image/audio content; any other file type is returned as an embedded resource. Only works within allowed directories.',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": {
          "content": {
            "items": {
              "anyOf": [
                {
                  "additionalProperties": false,
                  "properties": {
                    "data": { "type": "string" },
                    "mimeType": { "type": "string" },
                    "type": { "enum": ["image", "audio"], "type": "string" }
                  },
                  "required": ["type", "data", "mimeType"],
                  "type": "object"
                },
                {
                  "additionalProperties": false,
                  "properties": {
                    "resource": {
                      "additionalProperties": false,
                      "properties": {
                        "blob": { "type": "string" },
                        "mimeType": { "type": "string" },
                        "uri": { "type": "string" }
                      },
                      "required": ["uri", "blob"],
                      "type": "object"
                    },
                    "type": { "const": "resource", "type": "string" }
                  },
                  "required": ["type", "resource"],
                  "type": "object"
                }
              ]
            },
            "type": "array"
          }
        },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'read_media_file' },
      fingerprint: 'b94ebe81c55a5d86c3548867a6ad0daf7d436617aee745a07d1c43e19e9689ea',
    },
    filesystem_read_multiple_files: {
      class: FilesystemReadMultipleFiles,
      title: 'Read Multiple Files',
      description: "Read the contents of multiple files simultaneously. This is more efficient than reading files one by one when you need to analyze or compare multiple files. Each file's content is returned with its path as a reference. Failed reads for individual files won't stop the entire operation. Only works within allowed directories.",
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "paths": {
            "description": "Array of file paths to read. Each path must be a string pointing to a valid file within allowed directories.",
            "items": { "type": "string" },
            "minItems": 1,
            "type": "array"
          }
        },
        "required": ["paths"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'read_multiple_files' },
      fingerprint: 'c8d4c75aced6224dce98840b632ea378be761438bc419b25e412b14db098fb04',
    },
    filesystem_read_text_file: {
      class: FilesystemReadTextFile,
      title: 'Read Text File',
      description: "Read the complete contents of a file from the file system as text. Handles various text encodings and provides detailed error messages if the file cannot be read. Use this tool when you need to examine the contents of a single file. Use the 'head' parameter to read only the first N lines of a file, or the 'tail' parameter to read only the last N lines of a file. Operates on the file as text regardless of extension. Only works within allowed directories.",
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "head": {
            "description": "If provided, returns only the first N lines of the file",
            "type": "number"
          },
          "path": { "type": "string" },
          "tail": {
            "description": "If provided, returns only the last N lines of the file",
            "type": "number"
          }
        },
        "required": ["path"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'read_text_file' },
      fingerprint: '24a48261e88b95653a4be25a52ddf0d984f249947bbeb8584bbbc3b1fd4b6b16',
    },
    filesystem_search_files: {
      class: FilesystemSearchFiles,
      title: 'Search Files',
      description: "Recursively search for files and directories matching a pattern. The patterns should be glob-style patterns that match paths relative to the working directory. Use pattern like '*.ext' to match files in current directory, and '**/*.ext' to match files in all subdirectories. Returns full paths to all matching items. Great for finding files when you don't know their exact location. Only searches within allowed directories.",
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "excludePatterns": { "default": [], "items": { "type": "string" }, "type": "array" },
          "path": { "type": "string" },
          "pattern": { "type": "string" }
        },
        "required": ["path", "pattern"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'search_files' },
      fingerprint: 'a71819a06d9ec930f375d8e0500309d89607e87c15b7d2e4d2240456ce0db55f',
    },
    filesystem_write_file: {
      class: FilesystemWriteFile,
      title: 'Write File',
      description: 'Create a new file or completely overwrite an existing file with new content. Use with caution as it will overwrite existing files without warning. Handles text content with proper encoding. Only works within allowed directories.',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": { "content": { "type": "string" }, "path": { "type": "string" } },
        "required": ["path", "content"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "content": { "type": "string" } },
        "required": ["content"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'filesystem', tool: 'write_file' },
      fingerprint: '063968cd4d44769fd3de9dda423b3b37b5022714f3a5e5e9cfe22dc2eea5b635',
    },
    memory_add_observations: {
      class: MemoryAddObservations,
      title: 'Add Observations',
      description: 'Add new observations to existing entities in the knowledge graph',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "observations": {
            "items": {
              "properties": {
                "contents": {
                  "description": "An array of observation contents to add",
                  "items": { "type": "string" },
                  "type": "array"
                },
                "entityName": {
                  "description": "The name of the entity to add the observations to",
                  "type": "string"
                }
              },
              "required": ["entityName", "contents"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["observations"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": {
          "results": {
            "items": {
              "additionalProperties": false,
              "properties": {
                "addedObservations": { "items": { "type": "string" }, "type": "array" },
                "entityName": { "type": "string" }
              },
              "required": ["entityName", "addedObservations"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["results"],
        "type": "object"
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
      visibility: 'workflow',
      upstream: { server: 'memory', tool: 'add_observations' },
      fingerprint: '5b0208cc35121b7ccb47e579a3f120c780b8a486a6ba9d014dc3038be11aed29',
    },
    memory_create_entities: {
      class: MemoryCreateEntities,
      title: 'Create Entities',
      description: 'Create multiple new entities in the knowledge graph',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "entities": {
            "items": {
              "properties": {
                "entityType": { "description": "The type of the entity", "type": "string" },
                "name": { "description": "The name of the entity", "type": "string" },
                "observations": {
                  "description": "An array of observation contents associated with the entity",
                  "items": { "type": "string" },
                  "type": "array"
                }
              },
              "required": ["name", "entityType", "observations"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["entities"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": {
          "entities": {
            "items": {
              "additionalProperties": false,
              "properties": {
                "entityType": { "description": "The type of the entity", "type": "string" },
                "name": { "description": "The name of the entity", "type": "string" },
                "observations": {
                  "description": "An array of observation contents associated with the entity",
                  "items": { "type": "string" },
                  "type": "array"
                }
              },
              "required": ["name", "entityType", "observations"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["entities"],
        "type": "object"
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
      visibility: 'workflow',
      upstream: { server: 'memory', tool: 'create_entities' },
      fingerprint: '5188c7efe61c4785034e4ef0f0c92b79e838e21602a423b6d976cfd8104b80f7',
    },
    memory_create_relations: {
      class: MemoryCreateRelations,
      title: 'Create Relations',
      description: 'Create multiple new relations between entities in the knowledge graph. Relations should be in active voice',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "relations": {
            "items": {
              "properties": {
                "from": {
                  "description": "The name of the entity where the relation starts",
                  "type": "string"
                },
                "relationType": { "description": "The type of the relation", "type": "string" },
                "to": { "description": "The name of the entity where the relation ends", "type": "string" }
              },
              "required": ["from", "to", "relationType"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["relations"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": {
          "relations": {
            "items": {
              "additionalProperties": false,
              "properties": {
                "from": {
                  "description": "The name of the entity where the relation starts",
                  "type": "string"
                },
                "relationType": { "description": "The type of the relation", "type": "string" },
                "to": { "description": "The name of the entity where the relation ends", "type": "string" }
              },
              "required": ["from", "to", "relationType"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["relations"],
        "type": "object"
      }`,
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
      visibility: 'workflow',
      upstream: { server: 'memory', tool: 'create_relations' },
      fingerprint: '693e93cec8f7bbdbfa7570d384fc5a8f63c4331018e43693e89ba32b64411a1e',
    },
    memory_delete_entities: {
      class: MemoryDeleteEntities,
      title: 'Delete Entities',
      description: 'Delete multiple entities and their associated relations from the knowledge graph',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "entityNames": {
            "description": "An array of entity names to delete",
            "items": { "type": "string" },
            "type": "array"
          }
        },
        "required": ["entityNames"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "message": { "type": "string" }, "success": { "type": "boolean" } },
        "required": ["success", "message"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'memory', tool: 'delete_entities' },
      fingerprint: '6800625a6b753556ae49e7a3e9f8f19aa7a228fc00d3aba6547aa7bd412d9329',
    },
    memory_delete_observations: {
      class: MemoryDeleteObservations,
      title: 'Delete Observations',
      description: 'Delete specific observations from entities in the knowledge graph',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "deletions": {
            "items": {
              "properties": {
                "entityName": {
                  "description": "The name of the entity containing the observations",
                  "type": "string"
                },
                "observations": {
                  "description": "An array of observations to delete",
                  "items": { "type": "string" },
                  "type": "array"
                }
              },
              "required": ["entityName", "observations"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["deletions"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "message": { "type": "string" }, "success": { "type": "boolean" } },
        "required": ["success", "message"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'memory', tool: 'delete_observations' },
      fingerprint: '51557b138a2f208207c6ea4ce5ed6845ac1ee487a8d8d1e43874a7dd4ed695e8',
    },
    memory_delete_relations: {
      class: MemoryDeleteRelations,
      title: 'Delete Relations',
      description: 'Delete multiple relations from the knowledge graph',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "relations": {
            "description": "An array of relations to delete",
            "items": {
              "properties": {
                "from": {
                  "description": "The name of the entity where the relation starts",
                  "type": "string"
                },
                "relationType": { "description": "The type of the relation", "type": "string" },
                "to": { "description": "The name of the entity where the relation ends", "type": "string" }
              },
              "required": ["from", "to", "relationType"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["relations"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "message": { "type": "string" }, "success": { "type": "boolean" } },
        "required": ["success", "message"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'memory', tool: 'delete_relations' },
      fingerprint: '4ea2c3ac662874a27fcab72915bd48783f058b5c9496eb2c66079779783307c7',
    },
    memory_open_nodes: {
      class: MemoryOpenNodes,
      title: 'Open Nodes',
      description: 'Open specific nodes in the knowledge graph by their names',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "names": {
            "description": "An array of entity names to retrieve",
            "items": { "type": "string" },
            "type": "array"
          }
        },
        "required": ["names"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": {
          "entities": {
            "items": {
              "additionalProperties": false,
              "properties": {
                "entityType": { "description": "The type of the entity", "type": "string" },
                "name": { "description": "The name of the entity", "type": "string" },
                "observations": {
                  "description": "An array of observation contents associated with the entity",
                  "items": { "type": "string" },
                  "type": "array"
                }
              },
              "required": ["name", "entityType", "observations"],
              "type": "object"
            },
            "type": "array"
          },
          "relations": {
            "items": {
              "additionalProperties": false,
              "properties": {
                "from": {
                  "description": "The name of the entity where the relation starts",
                  "type": "string"
                },
                "relationType": { "description": "The type of the relation", "type": "string" },
                "to": { "description": "The name of the entity where the relation ends", "type": "string" }
              },
              "required": ["from", "to", "relationType"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["entities", "relations"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'memory', tool: 'open_nodes' },
      fingerprint: 'c2dd8a0b5148ace329a95285e889f58f094b611bbaa176e2bb7bc085ce84ed26',
    },
    memory_read_graph: {
      class: MemoryReadGraph,
      title: 'Read Graph',
      description: 'Read the entire knowledge graph',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {},
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": {
          "entities": {
            "items": {
              "additionalProperties": false,
              "properties": {
                "entityType": { "description": "The type of the entity", "type": "string" },
                "name": { "description": "The name of the entity", "type": "string" },
                "observations": {
                  "description": "An array of observation contents associated with the entity",
                  "items": { "type": "string" },
                  "type": "array"
                }
              },
              "required": ["name", "entityType", "observations"],
              "type": "object"
            },
            "type": "array"
          },
          "relations": {
            "items": {
              "additionalProperties": false,
              "properties": {
                "from": {
                  "description": "The name of the entity where the relation starts",
                  "type": "string"
                },
                "relationType": { "description": "The type of the relation", "type": "string" },
                "to": { "description": "The name of the entity where the relation ends", "type": "string" }
              },
              "required": ["from", "to", "relationType"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["entities", "relations"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'memory', tool: 'read_graph' },
      fingerprint: 'b7aa30e94442c2d5fb2010e28634116f3dae6840fa794f13bf93de25364f609e',
    },
    memory_search_nodes: {
      class: MemorySearchNodes,
      title: 'Search Nodes',
      description: 'Search for nodes in the knowledge graph based on a query',
      inputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {
          "query": {
            "description": "The search query to match against entity names, types, and observation content",
            "type": "string"
          }
        },
        "required": ["query"],
        "type": "object"
      }`,
      outputSchema: schemaJson`{
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": {
          "entities": {
            "items": {
              "additionalProperties": false,
              "properties": {
                "entityType": { "description": "The type of the entity", "type": "string" },
                "name": { "description": "The name of the entity", "type": "string" },
                "observations": {
                  "description": "An array of observation contents associated with the entity",
                  "items": { "type": "string" },
                  "type": "array"
                }
              },
              "required": ["name", "entityType", "observations"],
              "type": "object"
            },
            "type": "array"
          },
          "relations": {
            "items": {
              "additionalProperties": false,
              "properties": {
                "from": {
                  "description": "The name of the entity where the relation starts",
                  "type": "string"
                },
                "relationType": { "description": "The type of the relation", "type": "string" },
                "to": { "description": "The name of the entity where the relation ends", "type": "string" }
              },
              "required": ["from", "to", "relationType"],
              "type": "object"
            },
            "type": "array"
          }
        },
        "required": ["entities", "relations"],
        "type": "object"
      }`,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      visibility: 'workflow',
      upstream: { server: 'memory', tool: 'search_nodes' },
      fingerprint: '8e76e24fd6968d37e78113752c8ae6bc9331a32d701985164592c7204a6bd362',
    },
  },
  resources: {},
  workflows: {
    'learn-note': {
      class: LearnNote,
      graph: graphJson<['prompt', 'tool']>`{
        "graphVersion": 1,
        "name": "learn-note",
        "description": "remember what a note says about a topic",
        "expose": ["prompt", "tool"],
        "inputs": [
          {
            "name": "file",
            "description": "File in the folder of notes",
            "required": true,
            "schema": { "type": "string" }
          },
          {
            "name": "topic",
            "description": "What the note is about",
            "required": true,
            "schema": { "type": "string" }
          }
        ],
        "instructions": [],
        "nodes": [
          {
            "id": "note",
            "kind": "call",
            "after": [],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [{ "key": "path", "value": { "kind": "ref", "root": "inputs", "path": ["file"] } }]
            },
            "join": "none_failed",
            "tool": "filesystem_read_text_file"
          },
          {
            "id": "known",
            "kind": "call",
            "after": ["note"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                {
                  "key": "names",
                  "value": {
                    "kind": "list",
                    "items": [{ "value": { "kind": "ref", "root": "inputs", "path": ["topic"] } }]
                  }
                }
              ]
            },
            "join": "none_failed",
            "tool": "memory_open_nodes"
          },
          {
            "id": "remembered",
            "kind": "branch",
            "after": ["known"],
            "cases": [
              {
                "id": "then",
                "body": {
                  "nodes": [
                    {
                      "id": "remembered.then",
                      "kind": "call",
                      "after": [],
                      "executor": "server",
                      "input": {
                        "kind": "dict",
                        "entries": [
                          {
                            "key": "observations",
                            "value": {
                              "kind": "list",
                              "items": [
                                {
                                  "value": {
                                    "kind": "dict",
                                    "entries": [
                                      {
                                        "key": "entityName",
                                        "value": { "kind": "ref", "root": "inputs", "path": ["topic"] }
                                      },
                                      {
                                        "key": "contents",
                                        "value": {
                                          "kind": "list",
                                          "items": [
                                            {
                                              "value": {
                                                "kind": "call",
                                                "args": [
                                                  {
                                                    "kind": "ref",
                                                    "root": "steps",
                                                    "path": ["note", "content"]
                                                  }
                                                ],
                                                "fn": "trim.js"
                                              }
                                            }
                                          ]
                                        }
                                      }
                                    ]
                                  }
                                }
                              ]
                            }
                          }
                        ]
                      },
                      "join": "none_failed",
                      "tool": "memory_add_observations"
                    }
                  ],
                  "value": { "kind": "ref", "root": "steps", "path": ["remembered.then"] }
                },
                "when": {
                  "kind": "compare",
                  "left": { "kind": "ref", "root": "steps", "path": ["known", "entities", "length"] },
                  "ops": [{ "op": "gt.js", "right": { "kind": "literal", "value": 0 } }]
                }
              }
            ],
            "else": {
              "id": "else",
              "body": {
                "nodes": [
                  {
                    "id": "remembered.else",
                    "kind": "call",
                    "after": [],
                    "executor": "server",
                    "input": {
                      "kind": "dict",
                      "entries": [
                        {
                          "key": "entities",
                          "value": {
                            "kind": "list",
                            "items": [
                              {
                                "value": {
                                  "kind": "dict",
                                  "entries": [
                                    {
                                      "key": "name",
                                      "value": { "kind": "ref", "root": "inputs", "path": ["topic"] }
                                    },
                                    { "key": "entityType", "value": { "kind": "literal", "value": "topic" } },
                                    {
                                      "key": "observations",
                                      "value": {
                                        "kind": "list",
                                        "items": [
                                          {
                                            "value": {
                                              "kind": "call",
                                              "args": [
                                                {
                                                  "kind": "ref",
                                                  "root": "steps",
                                                  "path": ["note", "content"]
                                                }
                                              ],
                                              "fn": "trim.js"
                                            }
                                          }
                                        ]
                                      }
                                    }
                                  ]
                                }
                              }
                            ]
                          }
                        }
                      ]
                    },
                    "join": "none_failed",
                    "tool": "memory_create_entities"
                  }
                ],
                "value": { "kind": "ref", "root": "steps", "path": ["remembered.else"] }
              }
            },
            "executor": "server",
            "join": "none_failed"
          },
          {
            "id": "now",
            "kind": "call",
            "after": ["remembered"],
            "executor": "server",
            "input": {
              "kind": "dict",
              "entries": [
                {
                  "key": "names",
                  "value": {
                    "kind": "list",
                    "items": [{ "value": { "kind": "ref", "root": "inputs", "path": ["topic"] } }]
                  }
                }
              ]
            },
            "join": "none_failed",
            "tool": "memory_open_nodes"
          },
          {
            "id": "output",
            "kind": "return",
            "after": ["now"],
            "executor": "server",
            "join": "none_failed",
            "value": {
              "kind": "dict",
              "entries": [
                {
                  "key": "facts",
                  "value": {
                    "kind": "call",
                    "args": [
                      {
                        "key": { "kind": "literal", "value": "observations" },
                        "kind": "get",
                        "of": { "kind": "ref", "root": "steps", "path": ["now", "entities", 0] },
                        "optional": true
                      },
                      { "kind": "list", "items": [] }
                    ],
                    "fn": "coalesce"
                  }
                }
              ]
            }
          }
        ]
      }`,
      hash: '48ae5b0bae61b85560e466bdb7323514a8a176a3db6d460d5f34471e0cd1cf95',
      fingerprint: '8765d02201d0e8af60c4f77422517c91a9d162276ddcc86c88b7fa928c366818',
    },
  },
});

/** The names of the tools. */
export type ToolName = 
  | 'filesystem_create_directory'
  | 'filesystem_directory_tree'
  | 'filesystem_edit_file'
  | 'filesystem_get_file_info'
  | 'filesystem_list_allowed_directories'
  | 'filesystem_list_directory'
  | 'filesystem_list_directory_with_sizes'
  | 'filesystem_move_file'
  | 'filesystem_read_file'
  | 'filesystem_read_media_file'
  | 'filesystem_read_multiple_files'
  | 'filesystem_read_text_file'
  | 'filesystem_search_files'
  | 'filesystem_write_file'
  | 'memory_add_observations'
  | 'memory_create_entities'
  | 'memory_create_relations'
  | 'memory_delete_entities'
  | 'memory_delete_observations'
  | 'memory_delete_relations'
  | 'memory_open_nodes'
  | 'memory_read_graph'
  | 'memory_search_nodes';

/** The names of the resources. */
export type ResourceName = never;

/** The names of the workflows. */
export type WorkflowName = 'learn-note';

interface Workflows {
  readonly 'learn-note': LearnNote;
}

/** What a caller of workflow `N` supplies. */
export type WorkflowArgs<N extends WorkflowName> = ArgsOf<Workflows[N]>;

/** What workflow `N` hands back. */
export type WorkflowResult<N extends WorkflowName> = ResultOf<Workflows[N]>;
