// Formats generated code that people go on with, so that it passes the lint whatever the names in it are.

/** The ending of the file's name says which language it is. */
export async function formatted(text: string, file = 'code.ts'): Promise<string> {
  // Loaded only when there is something to format, because that takes a while.
  const { format } = await import('prettier');
  return format(text, { filepath: file, printWidth: 110, singleQuote: true });
}
