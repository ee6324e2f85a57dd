/** Throws unless it is there once, so that an update of Redoc or httpsnippet cannot break the docs unnoticed. */
export function replaceOnce(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`Expected ${from} once in:\n${text.slice(0, 2000)}`);
  return text.replace(from, () => to);
}
