import { FileSystemError } from 'vscode';

/**
 * A save that is refused, as VS Code's message shows it: `Unable to write file 'ADDRESS' (SENTENCE)`. With the name that such
 * an error has by itself, `Unavailable (FileSystemError)`, that would stand before the sentence.
 */
export function refusal(sentence: string): FileSystemError {
  const error = FileSystemError.Unavailable(sentence);
  error.name = '';
  return error;
}
