const uuids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Whether a text shows a short code, such as a security code. IDs, digests and sealed values contain any few digits by chance:
 * there a plain search fails once in some dozens of runs. So a code counts only as a word of its own. */
export const showsCode = (text: string, code: string): boolean =>
  new RegExp(`(?<![0-9A-Za-z+/_])${code}(?![0-9A-Za-z+/_])`).test(text.replaceAll(uuids, ''));
