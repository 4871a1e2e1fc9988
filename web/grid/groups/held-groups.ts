import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { GROUP_HEIGHT, type Line, type RowLines } from './row-lines.ts'

/**
 * The group whose header, with those of the groups around it, is held at the top of the window: the one that one
 * is in where its own header is scrolled out, wholly or in part. None: no keys.
 */
export function groupsHeldAt(lines: RowLines, top: number): readonly CellValue[] {
  let held: readonly CellValue[] = []
  // Each header that is held covers a part of what stands below it.
  for (;;) {
    const at = top + held.length * GROUP_HEIGHT
    const line = top > 0 ? lines.lineAt(at) : null
    const keys = line ? keysAround(line, at) : []
    if (keys.length <= held.length) return held
    held = keys.slice(0, held.length + 1)
  }
}

/** The innermost group that a line stands in, seen from a distance from the top. */
function keysAround(line: Line, at: number): readonly CellValue[] {
  if (line.kind === 'group') {
    const isLeft = line.top < at && !line.isCollapsed
    return isLeft ? line.node.keys : line.node.keys.slice(0, -1)
  }
  return (line.kind === 'more' ? line.parent : line.group)?.keys ?? []
}
