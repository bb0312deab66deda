// Written by `stepwright pull filesystem`: run it again instead of editing this file.
import { type DoubleAnswer, doublesOf, type UpstreamDouble } from 'stepwright/testing';
import * as tools from './filesystem.js';

/** What doubles of the tools answer. One without an answer gives a value made up from the output schema. */
export interface FilesystemAnswers {
  readonly create_directory?: DoubleAnswer<tools.FilesystemCreateDirectory>;
  readonly directory_tree?: DoubleAnswer<tools.FilesystemDirectoryTree>;
  readonly edit_file?: DoubleAnswer<tools.FilesystemEditFile>;
  readonly get_file_info?: DoubleAnswer<tools.FilesystemGetFileInfo>;
  readonly list_allowed_directories?: DoubleAnswer<tools.FilesystemListAllowedDirectories>;
  readonly list_directory?: DoubleAnswer<tools.FilesystemListDirectory>;
  readonly list_directory_with_sizes?: DoubleAnswer<tools.FilesystemListDirectoryWithSizes>;
  readonly move_file?: DoubleAnswer<tools.FilesystemMoveFile>;
  readonly read_file?: DoubleAnswer<tools.FilesystemReadFile>;
  readonly read_media_file?: DoubleAnswer<tools.FilesystemReadMediaFile>;
  readonly read_multiple_files?: DoubleAnswer<tools.FilesystemReadMultipleFiles>;
  readonly read_text_file?: DoubleAnswer<tools.FilesystemReadTextFile>;
  readonly search_files?: DoubleAnswer<tools.FilesystemSearchFiles>;
  readonly write_file?: DoubleAnswer<tools.FilesystemWriteFile>;
}

/** Doubles of all tools of the upstream server `filesystem`, for `upstreamDoubles`. */
export function filesystemDoubles(answers: FilesystemAnswers = {}): readonly UpstreamDouble[] {
  return doublesOf(
    {
      create_directory: tools.FilesystemCreateDirectory,
      directory_tree: tools.FilesystemDirectoryTree,
      edit_file: tools.FilesystemEditFile,
      get_file_info: tools.FilesystemGetFileInfo,
      list_allowed_directories: tools.FilesystemListAllowedDirectories,
      list_directory: tools.FilesystemListDirectory,
      list_directory_with_sizes: tools.FilesystemListDirectoryWithSizes,
      move_file: tools.FilesystemMoveFile,
      read_file: tools.FilesystemReadFile,
      read_media_file: tools.FilesystemReadMediaFile,
      read_multiple_files: tools.FilesystemReadMultipleFiles,
      read_text_file: tools.FilesystemReadTextFile,
      search_files: tools.FilesystemSearchFiles,
      write_file: tools.FilesystemWriteFile,
    },
    answers,
  );
}
