import { type Condition, type Filter, MAX_DEPTH } from '../../../src/core/filters/filter.ts'
import { type ViewKind, viewKind } from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import { isRecord, type Options } from './value-types.ts'

/** Kinds of views whose names are the same in all products. */
const KINDS: Record<string, ViewKind> = {
  grid: 'grid',
  form: 'form',
  calendar: 'calendar',
  gallery: 'gallery',
  kanban: 'kanban',
}

/** The kind of a view by its name in the source; a grid, with a note, for one without a counterpart. */
export function viewKindOf(name: string, notes: string[]): ViewKind {
  const kind = KINDS[name]
  if (!kind) notes.push(m.base_imports_note_view_kind({ kind: name.slice(0, 60) }))
  return kind ?? 'grid'
}

/** Options of views by our names, with the ids of the source; null and undefined: not set there. */
export interface SourceViewOptions {
  stackFieldId?: string | null | undefined
  coverFieldId?: string | null | undefined
  hideEmpty?: boolean | null | undefined
  ranges?: { fromFieldId: string; toFieldId: string | null }[] | null | undefined
  colorFieldId?: string | null | undefined
}

/** Those of the options that views of the kind have. */
export function optionsOfKind(kind: ViewKind, given: SourceViewOptions): { options?: object } {
  const { options, defaults } = viewKind(kind)
  const known = Object.keys(options.parse(defaults([])) ?? {})
  const kept = Object.entries(given).filter(
    ([key, value]) => known.includes(key) && value !== null && value !== undefined,
  )
  return kept.length === 0 ? {} : { options: Object.fromEntries(kept) }
}

/** A condition of the source that has no counterpart here. */
export const NO_COUNTERPART = Symbol('no counterpart')

/**
 * A filter of the form `{ conjunction, filterSet }`, whose entries are groups of the same form or conditions. What has no
 * counterpart is left out with a note. Null without conditions.
 */
export function filterOf(
  group: unknown,
  toCondition: (condition: Options) => Condition | typeof NO_COUNTERPART,
  notes: string[],
  depth = 1,
): Filter | null {
  if (!isRecord(group) || !Array.isArray(group.filterSet)) return null
  const leaveOut = (): Filter[] => {
    notes.push(m.base_imports_note_condition())
    return []
  }
  const children = group.filterSet.flatMap((entry): Filter[] => {
    if (!isRecord(entry)) return leaveOut()
    if (Array.isArray(entry.filterSet)) {
      if (depth >= MAX_DEPTH) return leaveOut()
      const inner = filterOf(entry, toCondition, notes, depth + 1)
      return inner ? [inner] : []
    }
    const condition = toCondition(entry)
    return condition === NO_COUNTERPART ? leaveOut() : [condition]
  })
  if (children.length === 0) return null
  return { join: String(group.conjunction).toLowerCase() === 'or' ? 'or' : 'and', children }
}
