import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Sort } from '../../../src/core/model.ts'
import type { GroupPage, RecordGroup, Search } from '../../../src/core/query.ts'

/** A group with its subgroups. Immutable: a change copies the path to the root. */
export interface GroupNode {
  /** Values of the levels down to this one; null: no value. */
  readonly keys: readonly CellValue[]
  readonly count: number
  readonly summaries: Readonly<Record<string, CellValue>>
  /** Empty on the last level. */
  readonly groups: readonly GroupNode[]
  /** False if some subgroups are not loaded yet. */
  readonly isWhole: boolean
}

/** The loaded groups of a view, in row order. */
export interface GroupTree {
  readonly levels: readonly Sort[]
  readonly groups: readonly GroupNode[]
  readonly isWhole: boolean
  /** Summary type per field id. */
  readonly kinds: Readonly<Record<string, string>>
  /** The search that the groups are restricted to; null without a search. */
  readonly search: Search | null
}

/** True on the last level, which contains records. */
export const isLeaf = ({ levels }: GroupTree, node: GroupNode): boolean => node.keys.length >= levels.length

/** Key under which a group's collapsed state is stored. */
export const keyOf = (keys: readonly CellValue[]): string => JSON.stringify(keys)

/** Number of records in the loaded groups. */
export const countIn = (groups: readonly GroupNode[]): number =>
  groups.reduce((sum, group) => sum + group.count, 0)

/** Builds the tree from a response, in which parents precede their children. */
export function treeOf(
  levels: readonly Sort[],
  { groups, hasMore }: GroupPage,
  { kinds = {}, search = null }: Partial<Pick<GroupTree, 'kinds' | 'search'>> = {},
): GroupTree {
  return { levels, groups: nodesOf(levels, groups, 0), isWhole: !hasMore, kinds, search }
}

/** Nodes of a list of groups with the same first `depth` keys. */
function nodesOf(levels: readonly Sort[], listed: readonly RecordGroup[], depth: number): GroupNode[] {
  const nodes: GroupNode[] = []
  let at = 0
  while (at < listed.length) {
    const group = listed[at]!
    let end = at + 1
    while (end < listed.length && listed[end]!.keys.length > depth + 1) end++
    const groups = nodesOf(levels, listed.slice(at + 1, end), depth + 1)
    const isLast = depth + 1 >= levels.length
    const { keys, count, summaries } = group
    nodes.push({ keys, count, summaries, groups, isWhole: isLast || countIn(groups) >= count })
    at = end
  }
  return nodes
}

/** Adds a page of a group's children; `parent` is empty for the first level. */
export function withPage(tree: GroupTree, parent: readonly CellValue[], page: GroupPage): GroupTree {
  const depth = parent.length
  const added = nodesOf(tree.levels, page.groups, depth)
  // The page may be empty although records are missing, if they have changed; a new read then follows.
  const isWhole = !page.hasMore
  if (depth === 0) return { ...tree, groups: [...tree.groups, ...added], isWhole }
  return {
    ...tree,
    groups: changed(tree.groups, parent, (node) => ({
      ...node,
      groups: [...node.groups, ...added],
      isWhole,
    })),
  }
}

/** Replaces a group, copying its ancestors. */
function changed(
  groups: readonly GroupNode[],
  keys: readonly CellValue[],
  change: (node: GroupNode, isTarget: boolean) => GroupNode,
  each?: (node: GroupNode) => GroupNode,
): readonly GroupNode[] {
  const at = groups.findIndex((node) => node.keys.every((key, level) => key === keys[level]))
  const node = groups[at]
  if (!node) return groups
  const own = each ? each(node) : node
  const next =
    node.keys.length === keys.length
      ? change(own, true)
      : { ...own, groups: changed(node.groups, keys, change, each) }
  return groups.toSpliced(at, 1, next)
}

/** Adjusts the record counts of a group and its ancestors. */
export function withCount(tree: GroupTree, keys: readonly CellValue[], by: number): GroupTree {
  const grow = (node: GroupNode): GroupNode => ({ ...node, count: Math.max(0, node.count + by) })
  return { ...tree, groups: changed(tree.groups, keys, (node) => node, grow) }
}

/** Takes over another tree's summaries for groups in both. */
export function withSummaries(tree: GroupTree, fresh: GroupTree): GroupTree {
  const merge = (groups: readonly GroupNode[], others: readonly GroupNode[]): readonly GroupNode[] => {
    const byKey = new Map(others.map((node) => [keyOf(node.keys), node]))
    return groups.map((node) => {
      const other = byKey.get(keyOf(node.keys))
      return other ? { ...node, summaries: other.summaries, groups: merge(node.groups, other.groups) } : node
    })
  }
  return { ...tree, groups: merge(tree.groups, fresh.groups), kinds: fresh.kinds }
}

/** A group and the row at which its records begin. */
export interface PlacedGroup {
  node: GroupNode
  first: number
}

/** The loaded groups around a row, outermost first. */
export function pathTo(tree: GroupTree, row: number): PlacedGroup[] {
  const path: PlacedGroup[] = []
  let groups = tree.groups
  let first = 0
  while (groups.length > 0) {
    let start = first
    const node = groups.find((each) => {
      if (row < start + each.count) return true
      start += each.count
      return false
    })
    if (!node) return path
    path.push({ node, first: start })
    groups = node.groups
    first = start
  }
  return path
}

/** The innermost loaded group of a row; null outside of groups. */
export const groupAt = (tree: GroupTree, row: number): PlacedGroup | null => pathTo(tree, row).at(-1) ?? null

/** Row where a group's records begin; null if it is not loaded. */
export function placeOf(tree: GroupTree, keys: readonly CellValue[]): PlacedGroup | null {
  let groups = tree.groups
  let first = 0
  for (let depth = 1; depth <= keys.length; depth++) {
    let found: GroupNode | null = null
    for (const node of groups) {
      if (node.keys[depth - 1] === keys[depth - 1]) {
        found = node
        break
      }
      first += node.count
    }
    if (!found) return null
    if (depth === keys.length) return { node: found, first }
    groups = found.groups
  }
  return null
}

/** Collapsed groups: a default for all of them, and its exceptions. */
export interface CollapsedGroups {
  readonly all: boolean
  readonly except: ReadonlySet<string>
}

export const NONE_COLLAPSED: CollapsedGroups = { all: false, except: new Set() }
export const ALL_COLLAPSED: CollapsedGroups = { all: true, except: new Set() }

/** True if only the group's header is visible. */
export const isCollapsed = ({ all, except }: CollapsedGroups, keys: readonly CellValue[]): boolean =>
  all !== except.has(keyOf(keys))

/** Collapses or expands a group. */
export function withCollapsed(
  { all, except }: CollapsedGroups,
  keys: readonly CellValue[],
  closed: boolean,
): CollapsedGroups {
  const next = new Set(except)
  if (closed === all) next.delete(keyOf(keys))
  else next.add(keyOf(keys))
  return { all, except: next }
}
