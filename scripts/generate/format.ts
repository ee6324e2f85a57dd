// Formats generated code that people go on with, so that it passes the lint whatever the names in it are.

export async function formatted(text: string): Promise<string> {
  // Loaded only when there is something to format, because that takes a while.
  const { format } = await import('prettier');
  return format(text, { parser: 'typescript', printWidth: 110, singleQuote: true });
}
