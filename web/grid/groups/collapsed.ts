import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { keyOf } from './tree.ts'

/** Which groups are closed: all, or none, save for some. */
export interface CollapsedGroups {
  readonly all: boolean
  readonly except: ReadonlySet<string>
}

export const NONE_COLLAPSED: CollapsedGroups = { all: false, except: new Set() }
export const ALL_COLLAPSED: CollapsedGroups = { all: true, except: new Set() }

/** True where only the group's header is to be seen. */
export const isCollapsed = ({ all, except }: CollapsedGroups, keys: readonly CellValue[]): boolean =>
  all !== except.has(keyOf(keys))

/** With a group closed, or opened. */
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
