import { dirname, join } from 'node:path'

/** One import or re-export of a source file. */
export interface Import {
  /** A path in the project (`src/core/roles.ts`) or a package (`zod`, `node:fs`). */
  target: string
  /** The text between `import` and `from`, e.g. `type { AppRouter }`; empty for `import 'x'` and `import('x')`. */
  clause: string
}

// Anchored at the start of a line, which excludes comments and examples in docstrings.
const STATEMENT = /^[ \t]*(?:import|export)\b([^'"`;=]*?)\bfrom\s*(['"])(.+?)\2/gm
const BARE = /^[ \t]*import\s*()(['"])(.+?)\2/gm
const DYNAMIC = /^(?![ \t]*(?:\*|\/\/)).*\b(?:import|require)\(\s*()(['"])(.+?)\2/gm

/**
 * All imports of a TypeScript file, including type imports, which `Bun.Transpiler.scanImports` omits.
 * @param path of the file in the project, against which relative imports are resolved
 */
export function findImports(path: string, source: string): Import[] {
  return [STATEMENT, BARE, DYNAMIC].flatMap((pattern) =>
    [...source.matchAll(pattern)].map(([, clause = '', , specifier = '']) => ({
      clause: clause.trim().replace(/\s+/g, ' '),
      target: resolveTarget(path, specifier),
    })),
  )
}

function resolveTarget(path: string, specifier: string): string {
  if (specifier.startsWith('.')) return join(dirname(path), specifier)
  return specifier.startsWith('~/') ? specifier.slice(2) : specifier
}
