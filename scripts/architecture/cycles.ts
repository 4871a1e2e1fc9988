import { findImports } from './find-imports.ts'
import type { SourceFile } from './rules.ts'

/**
 * Files that import each other, directly or through others, type imports included. Each entry is a group of files that
 * all reach each other. To break a cycle, move the shared code to a separate file or pass it as an argument.
 *
 * @returns paths, sorted, per group
 */
export function findCycles(files: readonly SourceFile[]): string[][] {
  const paths = new Set(files.map(({ path }) => path))
  const targets = new Map(
    files.map(({ path, text }) => [
      path,
      findImports(path, text).flatMap(({ target }) => (paths.has(target) ? [target] : [])),
    ]),
  )
  // Tarjan's algorithm: a group is complete when the search returns to the first of its files.
  const cycles: string[][] = []
  const positions = new Map<string, number>()
  const open: string[] = []
  const visit = (path: string): number => {
    const position = positions.size
    positions.set(path, position)
    let lowest = position
    open.push(path)
    for (const target of targets.get(path) ?? []) {
      const known = positions.get(target)
      if (known === undefined) lowest = Math.min(lowest, visit(target))
      else if (open.includes(target)) lowest = Math.min(lowest, known)
    }
    if (lowest === position) {
      const group = open.splice(open.indexOf(path))
      if (group.length > 1 || targets.get(path)?.includes(path)) cycles.push(group.sort())
    }
    return lowest
  }
  for (const path of paths) if (!positions.has(path)) visit(path)
  return cycles.sort((a, b) => a.join().localeCompare(b.join()))
}
