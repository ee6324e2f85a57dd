/**
 * A host for the compiler. To parse the declarations of TypeScript and of packages takes longer than to check a few lines, so
 * all programs of a worker share what was parsed, as long as the text is the same.
 */
import ts from 'typescript';

const parsed = new Map<string, ts.SourceFile>();

export function createCompilerHost(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  // These decide how a file is parsed and how its names are bound.
  const { target, module, moduleResolution, moduleDetection, jsx, strict, isolatedModules } = options;
  const settings = [target, module, moduleResolution, moduleDetection, jsx, strict, isolatedModules].join();
  host.getSourceFile = (file, ...rest) => {
    const key = `${settings} ${file}`;
    const known = parsed.get(key);
    if (known && known.text === host.readFile(file)) return known;
    const source = read(file, ...rest);
    if (source) parsed.set(key, source);
    return source;
  };
  return host;
}
