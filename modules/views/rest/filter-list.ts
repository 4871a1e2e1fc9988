import { type Condition, type Filter, type FilterGroup, isGroup } from '../../../src/core/filters/index.ts'
import { chain, type Link } from '../../../src/wire/filters.ts'

/**
 * A view's filter as REST clients see it: a flat list, each item joined to those before it by its own
 * word, groups with a list of their own. "And" binds tighter; what that takes in our tree (groups
 * without an id) is not shown, so that every item keeps its id and its place.
 */
export interface WireNode {
  id: string
  join: 'and' | 'or'
  not: boolean
  content: { condition: Condition } | { children: WireNode[] }
}

/** The list that a stored filter is. */
export function toNodes(filter: Filter | null): WireNode[] {
  if (filter === null) return []
  if (isGroup(filter) && !filter.not) return linksOf(filter).map(toNode)
  return [toNode({ join: 'and', ...unsigned(filter) })]
}

/** The filter that a list means, to be stored: always a group, or null. */
export function fromNodes(nodes: WireNode[]): Filter | null {
  return nodes.length === 0 ? null : asGroup(nodes)
}

/** Every node of a list with the id of its group, each group ahead of what is in it. */
export function* eachNode(
  nodes: WireNode[],
  parentId: string | null = null,
): Generator<{ node: WireNode; parentId: string | null; order: number }> {
  for (const [index, node] of nodes.entries()) {
    yield { node, parentId, order: index + 1 }
    if ('children' in node.content) yield* eachNode(node.content.children, node.id)
  }
}

/** The list with a node added at the end of a group's; undefined where there is no such group. */
export function withNode(
  nodes: WireNode[],
  parentId: string | null,
  added: WireNode,
): WireNode[] | undefined {
  if (parentId === null) return [...nodes, added]
  return changeNode(nodes, parentId, (parent) =>
    'children' in parent.content
      ? { ...parent, content: { children: [...parent.content.children, added] } }
      : parent,
  )
}

/** The list with one node changed, or taken out (null); undefined where it is not in the list. */
export function changeNode(
  nodes: WireNode[],
  id: string,
  change: (node: WireNode) => WireNode | null,
): WireNode[] | undefined {
  let isFound = false
  const walk = (list: WireNode[]): WireNode[] =>
    list.flatMap((node) => {
      if (node.id === id) {
        isFound = true
        return change(node) ?? []
      }
      return 'children' in node.content
        ? { ...node, content: { children: walk(node.content.children) } }
        : node
    })
  const changed = walk(nodes)
  return isFound ? changed : undefined
}

export const isImplicit = (filter: Filter): filter is FilterGroup =>
  isGroup(filter) && filter.id === undefined

/** What `chain` has made of a list, taken apart again. */
export function linksOf({ join, children }: FilterGroup): Link[] {
  return children.flatMap((child): Link[] => {
    const isRun = join === 'or' && isImplicit(child) && child.join === 'and' && !child.not
    if (!isRun) return [{ join, ...unsigned(child) }]
    return child.children.map((part, index) => ({ join: index === 0 ? 'or' : 'and', ...unsigned(part) }))
  })
}

export function unsigned(filter: Filter): Pick<Link, 'not' | 'filter'> {
  if (!isGroup(filter) || !filter.not) return { not: false, filter }
  const [only] = filter.children
  if (isImplicit(filter) && only && filter.children.length === 1) return { not: true, filter: only }
  const { not: _, ...positive } = filter
  return { not: true, filter: positive }
}

export function toNode({ join, not, filter }: Link): WireNode {
  const id = filter.id ?? ''
  if (!isGroup(filter)) return { id, join, not, content: { condition: filter } }
  return { id, join, not, content: { children: linksOf(filter).map(toNode) } }
}

export function asGroup(nodes: WireNode[]): FilterGroup {
  const links = nodes.map(({ id, join, not, content }): Link => {
    const filter =
      'condition' in content ? { ...content.condition, id } : { ...asGroup(content.children), id }
    return { join, not, filter }
  })
  const chained = chain(links)
  if (chained && isImplicit(chained) && !chained.not) return chained
  return { join: 'and', children: chained ? [chained] : [] }
}
