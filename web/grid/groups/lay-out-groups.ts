import { type CollapsedGroups, isCollapsed } from './collapsed.ts'
import { groupedLines, LINE_HEIGHTS, type Line, type RowLines } from './row-lines.ts'
import { type GroupNode, type GroupTree, isLeaf } from './tree.ts'

/** What decides where rows and headers stand. */
export interface GroupedRows {
  tree: GroupTree
  collapsed: CollapsedGroups
  rowCount: number
  rowHeight: number
  /** A line for a new record at the end of each open group. */
  canAdd: boolean
}

/**
 * Headers and rows one below the other. Rows that no listed group accounts for (further groups, a record that
 * was added a moment ago) stand behind those that are listed, so that each row has its place.
 */
export function layOutGroups({ tree, collapsed, rowCount, rowHeight, canAdd }: GroupedRows): RowLines {
  const lines: Line[] = []
  let top = 0
  let row = 0
  let shownBefore = 0
  let position = 0

  const ordinals = { group: 0, rows: 0, add: 0, more: 0 }
  const here = (kind: Line['kind']) => ({ top, first: row, shownBefore, position, ordinal: ordinals[kind]++ })

  function push(line: Line, height: number): void {
    lines.push(line)
    top += height
    position++
  }

  function addRows(count: number, group: GroupNode | null, isFurther = false): void {
    if (count <= 0) return
    lines.push({ kind: 'rows', ...here('rows'), count, group, isFurther })
    top += count * rowHeight
    row += count
    shownBefore += count
    position += count
  }

  function addMore(parent: GroupNode | null, level: number, count: number): void {
    if (count <= 0) return
    push({ kind: 'more', ...here('more'), parent, level, count }, LINE_HEIGHTS.more)
    addRows(count, parent, true)
  }

  function addGroup(node: GroupNode): void {
    const level = node.keys.length - 1
    // More than there are rows: the count is not known to all yet.
    const count = Math.max(0, Math.min(node.count, rowCount - row))
    const closed = isCollapsed(collapsed, node.keys)
    const end = row + count
    push({ kind: 'group', ...here('group'), node, level, isCollapsed: closed, end }, LINE_HEIGHTS.group)
    if (closed) {
      row = end
      return
    }
    if (!isLeaf(tree, node)) {
      for (const group of node.groups) addGroup(group)
      if (node.isWhole) addRows(end - row, node)
      else addMore(node, level + 1, end - row)
      return
    }
    addRows(count, node)
    if (canAdd) push({ kind: 'add', ...here('add'), group: node }, LINE_HEIGHTS.add)
  }

  for (const node of tree.groups) addGroup(node)
  if (tree.isWhole) addRows(rowCount - row, null)
  else addMore(null, 0, rowCount - row)
  return groupedLines(lines, rowHeight, tree.levels)
}
